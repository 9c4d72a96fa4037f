import { invalidInput } from "../../contract/errors.ts";
import type { Collection, StoredRecord } from "../../state/collection.ts";
import type { WorldReader } from "../../state/transaction.ts";
import { users } from "../users/schema.ts";

/**
 * The record that a field of a state call refers to.
 * @throws ApiError INVALID_INPUT for that field when there is none
 */
export function referred<R extends StoredRecord>(
  world: WorldReader,
  collection: Collection<R>,
  { field, id }: { field: string; id: string },
): R {
  const record = world.get(collection, id);
  if (record === undefined)
    throw invalidInput(field, id, `${field} must name one of the ${collection.name}; there is no ${id}`);
  return record;
}

/** An organization to put a record in where a state call names none: the first, by id. */
export function anyOf<R extends StoredRecord>(
  world: WorldReader,
  collection: Collection<R>,
  field: string,
): R {
  const [first] = world.all(collection).page(0, 1);
  if (first === undefined)
    throw invalidInput(field, null, `${field} is required: there are no ${collection.name}`);
  return first;
}

/**
 * Whose a record of an organization is where a state call does not say: its owner's, else a member's, else
 * the first user's, as in fixtures. An organization that was just made has nobody yet.
 */
export function personOf(world: WorldReader, organization_id: string): string {
  const [owner] = world.index(users, "by_owned_organization", organization_id).page(0, 1);
  const [member] = owner ? [owner] : world.index(users, "by_organization", organization_id).page(0, 1);
  return (member ?? anyOf(world, users, "user_id")).id;
}
