import { type Static, Type } from "typebox";
import { publicView } from "../../contract/public-view.ts";
import { belongsTo, mentions } from "../../contract/references.ts";
import { Id, Instant, UserId } from "../../contract/schema.ts";
import { collection } from "../../state/collection.ts";

export const MusicCollection = Type.Object({
  id: Id("mcoll_"),
  name: Type.String({ minLength: 1 }),
  organization_id: Id("org_", belongsTo("organizations")),
  /** The only user who can read it (section 4.4). */
  owner_id: UserId(mentions("users")),
  created_at: Instant(),
});
export type MusicCollection = Static<typeof MusicCollection>;

export const musicCollections = collection({
  name: "music_collections",
  schema: MusicCollection,
});

/** A track of a collection. The id contains the ids of both, since a track may be in several collections (G39). */
export const Track = Type.Object({
  id: Type.String({ pattern: "^mcoll_[A-Za-z0-9_-]{1,120}:mtrack_[A-Za-z0-9_-]{1,120}$" }),
  track_id: Id("mtrack_"),
  position: Type.Integer({ minimum: 0 }),
  collection_id: Id("mcoll_", belongsTo("music_collections")),
  added_at: Instant(),
});
export type Track = Static<typeof Track>;

/** The body of a track (section 2.3). */
export const { schema: TrackBody, render: renderTrack } = publicView(Track, {
  $id: "CollectionTrack",
  omit: ["id", "collection_id"],
});

export const tracks = collection({
  name: "tracks",
  schema: Track,
  indexes: {
    by_collection: { groups: "collection_id", order: ({ position }) => position },
  },
});
