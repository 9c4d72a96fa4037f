import { Type } from "typebox";
import { chooseCreation, type Factory } from "../../contract/factory.ts";
import {
  createEntryFormat,
  createListReader,
  type FixtureEntry,
  toEntriesAndCount,
  toFreeId,
} from "../../contract/fixture-entry.ts";
import { inventTitle } from "../../contract/invent.ts";
import { requireFirstRecord } from "../../contract/references.ts";
import type { BaseBuilder } from "../../contract/resource.ts";
import { DAY_MS } from "../../state/clock.ts";
import { chooseOrganization, findAuthor } from "../organizations/access.ts";
import { MusicCollection, musicCollections, Track, tracks } from "./schema.ts";

export const makeMusicCollection: Factory<MusicCollection> = (fields, context) => {
  const { random, world } = context;
  const organization_id = chooseOrganization(context, fields.organization_id);
  return {
    id: fields.id ?? context.createId("mcoll_"),
    name: fields.name ?? inventTitle(context),
    organization_id,
    owner_id: fields.owner_id ?? context.actor_id ?? findAuthor(world, organization_id),
    created_at: fields.created_at ?? chooseCreation(context, () => random.int(30, 300) * DAY_MS),
  };
};

/** Makes a track; without a position it is the last one. */
export const makeTrack: Factory<Track> = (fields, context) => {
  const { world, now } = context;
  const [collectionInId, trackInId] = fields.id?.split(":") ?? [];
  const collection_id =
    fields.collection_id ??
    collectionInId ??
    requireFirstRecord(context, musicCollections, "collection_id").id;
  const track_id = fields.track_id ?? trackInId ?? context.createId("mtrack_");
  return {
    id: `${collection_id}:${track_id}`,
    track_id,
    collection_id,
    position: fields.position ?? world.index(tracks, "by_collection", collection_id).size,
    added_at: fields.added_at ?? now,
  };
};

const DEFAULT_TRACKS = 12;

const trackFormat = createEntryFormat(Track, { omit: ["id", "collection_id", "position"] });
const entryFormat = createEntryFormat(MusicCollection, {
  required: ["id"],
  names: { owner_id: "owner" },
  more: {
    tracks: Type.Optional(
      Type.Union([Type.Integer({ minimum: 0, maximum: 2_000_000 }), Type.Array(trackFormat.schema)], {
        description: "The tracks by position, or the number of tracks to generate",
      }),
    ),
  },
});
type Entry = FixtureEntry<typeof entryFormat>;

export const musicCollectionsFixture = createListReader(musicCollections, {
  entryFormat,
  factory: makeMusicCollection,
  dependsOnSettings: ["locale"],
  children: { collection: tracks, make: generateTracks },
});

/** Generates tracks that were added one after the other since the creation of the collection. */
function generateTracks({ id, tracks: tracksOrCount = DEFAULT_TRACKS }: Entry, base: BaseBuilder): Track[] {
  const { created_at } = base.world.get(musicCollections, id)!;
  const { entries, count } = toEntriesAndCount(tracksOrCount);
  const context = base.createContext("tracks", id);
  const interval = -created_at / (count + 1);
  const prefix = `mtrack_${id.slice("mcoll_".length)}_`;
  const taken = new Set(entries.map(({ track_id }) => track_id));
  return Array.from({ length: count }, (_, position) => {
    const addedAt = Math.min(-1, Math.round(created_at + (position + context.random.float()) * interval));
    const fields = trackFormat.toFields(entries[position] ?? {}, base);
    const track_id =
      fields.track_id ?? toFreeId(prefix + String(position + 1).padStart(4, "0"), taken, context);
    return makeTrack({ added_at: addedAt, ...fields, track_id, collection_id: id, position }, context);
  });
}
