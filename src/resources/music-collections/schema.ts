import Type, { type Static } from "typebox";
import { Id, Instant, Timestamp, UserId } from "../../contract/schema.ts";
import { collection } from "../../state/collection.ts";

export const MusicCollection = Type.Object({
  id: Id("mcoll_"),
  name: Type.String({ minLength: 1 }),
  organization_id: Id("org_"),
  /** Only its owner sees it (4.4). */
  owner_id: UserId(),
  created_at: Instant(),
});
export type MusicCollection = Static<typeof MusicCollection>;

export const musicCollections = collection<MusicCollection>({
  name: "music_collections",
  prefix: "mcoll_",
  idField: "id",
  schema: MusicCollection,
});

const trackFields = { track_id: Id("mtrack_"), position: Type.Integer({ minimum: 0 }) };

export const Track = Type.Object({ ...trackFields, collection_id: Id("mcoll_"), added_at: Instant() });
export type Track = Static<typeof Track>;

/** Section 2.3. */
export const TrackBody = Type.Object({ ...trackFields, added_at: Timestamp() }, { $id: "CollectionTrack" });

export const tracks = collection<Track>({
  name: "tracks",
  prefix: "mtrack_",
  idField: "track_id",
  schema: Track,
  indexes: {
    by_collection: { groups: ({ collection_id }) => [collection_id], order: ({ position }) => position },
  },
});
