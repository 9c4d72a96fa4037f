import { invalidInput } from "../../contract/errors.ts";
import type { StateRules } from "../../contract/resource.ts";
import type { Transaction } from "../../state/transaction.ts";
import { personOf } from "../organizations/references.ts";
import { organizations } from "../organizations/schema.ts";
import { users } from "../users/schema.ts";
import { type MusicCollection, musicCollections, type Track, tracks } from "./schema.ts";
import { inventName } from "./seed.ts";

export const musicCollectionState: StateRules<MusicCollection> = {
  complete(fields, tx, { random }) {
    const organization_id = fields.organization_id ?? tx.all(organizations).page(0, 1)[0]?.id ?? "org_acme";
    const owner_id = personOf(tx, organization_id);
    return { name: inventName(random), owner_id, created_at: tx.now, ...fields, organization_id };
  },
  insert(tx, record) {
    check(tx, record);
    return tx.insert(musicCollections, record);
  },
  update(tx, _before, after) {
    check(tx, after);
    return tx.put(musicCollections, after);
  },
  remove(tx, { id }) {
    for (const track of tx.index(tracks, "by_collection", id)) tx.remove(tracks, track.track_id);
    tx.remove(musicCollections, id);
  },
};

function check(tx: Transaction, { organization_id, owner_id }: MusicCollection): void {
  if (tx.get(organizations, organization_id) === undefined)
    throw invalidInput("organization_id", organization_id, "there is no such organization");
  if (tx.get(users, owner_id) === undefined)
    throw invalidInput("owner_id", owner_id, "there is no such user");
}

/** Positions of a collection stay 0, 1, 2 …: who comes in between moves the others (section 2.3). */
export const trackState: StateRules<Track> = {
  complete(fields, tx) {
    const collection_id = fields.collection_id ?? tx.all(musicCollections).page(0, 1)[0]?.id;
    const position = sizeOf(tx, collection_id ?? "");
    return { position, added_at: tx.now, ...fields, collection_id };
  },
  insert(tx, record) {
    requireCollection(tx, record);
    requirePosition(record, sizeOf(tx, record.collection_id));
    shift(tx, record.collection_id, record.position, 1);
    return tx.insert(tracks, record);
  },
  update(tx, before, after) {
    if (before.collection_id === after.collection_id && before.position === after.position)
      return tx.put(tracks, after);
    requireCollection(tx, after);
    tx.remove(tracks, before.track_id);
    shift(tx, before.collection_id, before.position + 1, -1);
    requirePosition(after, sizeOf(tx, after.collection_id));
    shift(tx, after.collection_id, after.position, 1);
    return tx.insert(tracks, after);
  },
  remove(tx, record) {
    tx.remove(tracks, record.track_id);
    shift(tx, record.collection_id, record.position + 1, -1);
  },
};

function sizeOf(tx: Transaction, collection_id: string): number {
  return tx.index(tracks, "by_collection", collection_id).size;
}

function requireCollection(tx: Transaction, { collection_id }: Track): void {
  if (tx.get(musicCollections, collection_id) === undefined)
    throw invalidInput("collection_id", collection_id, "there is no such music collection");
}

function requirePosition({ position }: Track, last: number): void {
  if (position > last) throw invalidInput("position", position, `position is at most ${last} here`);
}

function shift(tx: Transaction, collection_id: string, from: number, by: number): void {
  const after = tx.index(tracks, "by_collection", collection_id).between(from, Number.POSITIVE_INFINITY);
  for (const track of after) tx.put(tracks, { ...track, position: track.position + by });
}
