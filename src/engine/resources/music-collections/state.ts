import { invalidInput } from "../../contract/errors.ts";
import { referred } from "../../contract/references.ts";
import type { StateRules } from "../../contract/resource.ts";
import type { Transaction } from "../../state/transaction.ts";
import { musicCollections, type Track, tracks } from "./schema.ts";

/** The positions of a collection stay 0, 1, 2 …: a track in between moves the later ones (2.3). */
export const trackState: StateRules<Track> = {
  insert(tx, record) {
    referred(tx, musicCollections, { field: "collection_id", id: record.collection_id });
    requirePosition(record, countTracks(tx, record.collection_id));
    shift(tx, record.collection_id, record.position, 1);
    return tx.insert(tracks, record);
  },
  update(tx, before, after) {
    for (const field of ["collection_id", "track_id"] as const) {
      if (after[field] === before[field]) continue;
      throw invalidInput(field, after[field], `${field} cannot change; delete this entry and make another`);
    }
    if (before.position === after.position) return tx.put(tracks, after);
    tx.remove(tracks, before.id);
    shift(tx, before.collection_id, before.position + 1, -1);
    requirePosition(after, countTracks(tx, after.collection_id));
    shift(tx, after.collection_id, after.position, 1);
    return tx.insert(tracks, after);
  },
  remove(tx, record) {
    tx.remove(tracks, record.id);
    shift(tx, record.collection_id, record.position + 1, -1);
  },
};

function countTracks(tx: Transaction, collection_id: string): number {
  return tx.index(tracks, "by_collection", collection_id).size;
}

function requirePosition({ position }: Track, last: number): void {
  if (position > last) throw invalidInput("position", position, `position is at most ${last} here`);
}

function shift(tx: Transaction, collection_id: string, from: number, by: number): void {
  const after = tx.index(tracks, "by_collection", collection_id).between(from, Number.POSITIVE_INFINITY);
  for (const track of after) tx.put(tracks, { ...track, position: track.position + by });
}
