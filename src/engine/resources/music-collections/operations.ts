import { Type } from "typebox";
import { invalidInput, resourceNotFound } from "../../contract/errors.ts";
import { operation } from "../../contract/operation.ts";
import { requireReferencedRecord } from "../../contract/references.ts";
import type { Resource, StateRules } from "../../contract/resource.ts";
import { Id, PageParameter } from "../../contract/schema.ts";
import type { Transaction } from "../../state/transaction.ts";
import { isMember } from "../organizations/access.ts";
import { makeMusicCollection, makeTrack, musicCollectionsFixture } from "./fixtures.ts";
import { musicCollections, renderTrack, type Track, TrackBody, tracks } from "./schema.ts";

const listTracks = operation({
  id: "music_collections.list_tracks",
  section: "4.4",
  assumptions: ["G03", "G08", "G39"],
  route: "GET /v1/music/{organization_id}/collections/{collection_id}/tracks",
  summary: "List the tracks of a music collection",
  description: "Tracks are in the order of `position`. You see only your own collections.",
  params: Type.Object({ organization_id: Id("org_"), collection_id: Id("mcoll_") }),
  query: Type.Object({
    limit: PageParameter({ minimum: 1, maximum: 500, default: 200 }),
    offset: PageParameter({ minimum: 0, default: 0 }),
  }),
  errors: ["RESOURCE_NOT_FOUND"],
  success: {
    status: 200,
    schema: Type.Object({
      collection_id: Id("mcoll_"),
      items: Type.Array(TrackBody),
      limit: Type.Integer({ minimum: 1, maximum: 500 }),
      offset: Type.Integer({ minimum: 0 }),
    }),
  },
  access(call) {
    const { collection_id, organization_id } = call.params;
    const musicCollection = call.world.get(musicCollections, collection_id);
    const isVisible =
      musicCollection?.organization_id === organization_id &&
      musicCollection.owner_id === call.principal.user_id &&
      isMember(call, organization_id);
    // Every refusal is this 404, also for an unknown or foreign organization (G03).
    if (!isVisible) throw resourceNotFound("collection_id", collection_id);
    return musicCollection;
  },
  handle({ query, world }, { id }) {
    const { limit, offset } = query;
    const items = world
      .index(tracks, "by_collection", id)
      .page(offset, limit)
      .map((track) => renderTrack(track, world));
    return { collection_id: id, items, limit, offset };
  },
});

/** The positions of a collection stay 0, 1, 2 …: a track in between moves the later ones (section 2.3). */
const trackStateRules: StateRules<Track> = {
  insert(tx, record) {
    requireReferencedRecord(tx, musicCollections, { field: "collection_id", id: record.collection_id });
    requirePosition(record, countTracks(tx, record.collection_id));
    shiftPositions(tx, record.collection_id, record.position, 1);
    return tx.insert(tracks, record);
  },
  update(tx, before, after) {
    for (const field of ["collection_id", "track_id"] as const) {
      if (after[field] === before[field]) continue;
      throw invalidInput(field, after[field], `${field} cannot change; delete this entry and make another`);
    }
    if (before.position === after.position) return tx.put(tracks, after);
    tx.remove(tracks, before.id);
    shiftPositions(tx, before.collection_id, before.position + 1, -1);
    requirePosition(after, countTracks(tx, after.collection_id));
    shiftPositions(tx, after.collection_id, after.position, 1);
    return tx.insert(tracks, after);
  },
  beforeRemove(tx, record) {
    tx.remove(tracks, record.id);
    shiftPositions(tx, record.collection_id, record.position + 1, -1);
  },
};

function countTracks(tx: Transaction, collection_id: string): number {
  return tx.index(tracks, "by_collection", collection_id).size;
}

function requirePosition({ position }: Track, maxPosition: number): void {
  if (position > maxPosition)
    throw invalidInput("position", position, `position is at most ${maxPosition} here`);
}

function shiftPositions(tx: Transaction, collection_id: string, from: number, offset: number): void {
  const laterTracks = tx
    .index(tracks, "by_collection", collection_id)
    .between(from, Number.POSITIVE_INFINITY);
  for (const track of laterTracks) tx.put(tracks, { ...track, position: track.position + offset });
}

export const musicCollectionsResource = {
  name: "music_collections",
  collections: [musicCollections, tracks],
  operations: [listTracks],
  factories: { music_collections: makeMusicCollection, tracks: makeTrack },
  fixture: musicCollectionsFixture,
  state: { tracks: trackStateRules },
} satisfies Resource;
