import type { Factory } from "../../contract/factory.ts";
import { firstRecord } from "../../contract/references.ts";
import { authorOf } from "../organizations/people.ts";
import { organizations } from "../organizations/schema.ts";
import { type MusicCollection, musicCollections, type Track, trackEntryId, tracks } from "./schema.ts";

const DAY_MS = 86_400_000;
const MOODS = ["Quiet", "Early", "Late", "Bright", "Slow", "Deep", "Rainy", "Open"];
const OCCASIONS = ["focus", "commute", "workshop", "evening", "studio", "retro", "Friday"];

export const makeMusicCollection: Factory<MusicCollection> = (given, context) => {
  const { random, world, past, now } = context;
  const organization_id = given.organization_id ?? firstRecord(world, organizations, "organization_id").id;
  return {
    id: given.id ?? context.newId("mcoll_"),
    name: given.name ?? `${random.pick(MOODS)} ${random.pick(OCCASIONS)}`,
    organization_id,
    owner_id: given.owner_id ?? authorOf(world, organization_id),
    created_at: given.created_at ?? (past ? -random.int(30, 300) * DAY_MS : now),
  };
};

/** A track that says nothing of its place comes last. */
export const makeTrack: Factory<Track> = (given, context) => {
  const { world, now } = context;
  const [collectionInId, trackInId] = given.id?.split(":") ?? [];
  const { collection_id = collectionInId ?? firstRecord(world, musicCollections, "collection_id").id } =
    given;
  const { track_id = trackInId ?? context.newId("mtrack_") } = given;
  return {
    id: trackEntryId(collection_id, track_id),
    track_id,
    collection_id,
    position: given.position ?? world.index(tracks, "by_collection", collection_id).size,
    added_at: given.added_at ?? now,
  };
};
