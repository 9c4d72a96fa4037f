import type { Make } from "../../contract/make.ts";
import { anyOf } from "../../contract/references.ts";
import { authorOf } from "../organizations/people.ts";
import { organizations } from "../organizations/schema.ts";
import { type MusicCollection, musicCollections, type Track, trackEntryId, tracks } from "./schema.ts";

const DAY_MS = 86_400_000;
const MOODS = ["Quiet", "Early", "Late", "Bright", "Slow", "Deep", "Rainy", "Open"];
const OCCASIONS = ["focus", "commute", "workshop", "evening", "studio", "retro", "Friday"];

export const makeMusicCollection: Make<MusicCollection> = (given, making) => {
  const { random, world, past, now } = making;
  const organization_id = given.organization_id ?? anyOf(world, organizations, "organization_id").id;
  return {
    id: given.id ?? making.newId("mcoll_"),
    name: given.name ?? `${random.pick(MOODS)} ${random.pick(OCCASIONS)}`,
    organization_id,
    owner_id: given.owner_id ?? authorOf(world, organization_id),
    created_at: given.created_at ?? (past ? -random.int(30, 300) * DAY_MS : now),
  };
};

/** A track that says nothing of its place comes last. */
export const makeTrack: Make<Track> = (given, making) => {
  const { world, now } = making;
  const [collectionInId, trackInId] = given.id?.split(":") ?? [];
  const { collection_id = collectionInId ?? anyOf(world, musicCollections, "collection_id").id } = given;
  const { track_id = trackInId ?? making.newId("mtrack_") } = given;
  return {
    id: trackEntryId(collection_id, track_id),
    track_id,
    collection_id,
    position: given.position ?? world.index(tracks, "by_collection", collection_id).size,
    added_at: given.added_at ?? now,
  };
};
