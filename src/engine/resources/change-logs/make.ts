import type { Factory } from "../../contract/factory.ts";
import { firstRecord } from "../../contract/references.ts";
import { organizations } from "../organizations/schema.ts";
import { actorAt, actorOf } from "./actor.ts";
import { SUBJECTS } from "./sample-text.ts";
import type { ChangeLog } from "./schema.ts";

/** An entry that no change has written; it describes one, and nothing follows from it. */
export const makeChangeLog: Factory<ChangeLog> = (given, context) => {
  const { random, world, past, now } = context;
  const organization_id = given.organization_id ?? firstRecord(world, organizations, "organization_id").id;
  const id = given.id ?? context.newId("log_");
  const resource_type = given.resource_type ?? "assistant";
  const action = given.action ?? "updated";
  const { prefix, names, fields } = SUBJECTS[resource_type];
  const name = random.pick(names);
  // What a fixture tells of was anybody's doing.
  const actor =
    past && given.user_id === undefined
      ? actorAt(world, { organization_id, at: given.timestamp ?? now }, random)
      : actorOf(world, given.user_id, organization_id);
  const field = random.pick(Object.keys(fields));
  const [old_value, new_value] = random.sample(fields[field]!, 2);
  return {
    id,
    organization_id,
    timestamp: given.timestamp ?? now,
    resource_type,
    resource_id: given.resource_id ?? `${prefix}${name.toLowerCase().replaceAll(/[^a-z]+/g, "-")}`,
    resource_name: given.resource_name ?? name,
    action,
    user_id: actor.user_id,
    user_name: given.user_name ?? actor.user_name,
    user_email: given.user_email ?? actor.user_email,
    changes: given.changes ?? (action === "updated" ? [{ field, old_value, new_value }] : []),
  };
};
