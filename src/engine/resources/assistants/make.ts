import type { Factory } from "../../contract/factory.ts";
import { firstRecord } from "../../contract/references.ts";
import type { Random } from "../../state/random.ts";
import { findActor } from "../change-logs/record.ts";
import { authorOf } from "../organizations/people.ts";
import { organizations } from "../organizations/schema.ts";
import { ASSISTANT_NAMES, tuned } from "./sample-text.ts";
import { type Assistant, assistants, type HistoryEntry } from "./schema.ts";

export const makeAssistant: Factory<Assistant> = (given, context) => {
  const { random, world, now } = context;
  const organization_id = given.organization_id ?? firstRecord(world, organizations, "organization_id").id;
  const name = given.name ?? random.pick(ASSISTANT_NAMES);
  const drawn = tuned(random);
  return {
    id: given.id ?? context.newId("asst_"),
    organization_id,
    name,
    description: given.description ?? drawn.description,
    instructions: given.instructions ?? drawn.instructions,
    model: given.model ?? drawn.model,
    temperature: given.temperature ?? drawn.temperature,
    created_by: given.created_by ?? authorOf(world, organization_id),
    created_at: given.created_at ?? now,
    deleted_at: given.deleted_at ?? null,
  };
};

/** An entry that no change has written, such as a history longer than anybody would click together. */
export const makeHistoryEntry: Factory<HistoryEntry> = (given, context) => {
  const { world, past, now } = context;
  const resource_id = given.resource_id ?? firstRecord(world, assistants, "resource_id").id;
  const assistant = past ? undefined : world.get(assistants, resource_id);
  const organization_id =
    given.organization_id ??
    assistant?.organization_id ??
    firstRecord(world, organizations, "organization_id").id;
  const actor = findActor(world, given.user_id, organization_id);
  return {
    id: given.id ?? context.newId("log_"),
    organization_id,
    timestamp: given.timestamp ?? now,
    resource_type: "assistant",
    resource_id,
    resource_name: given.resource_name ?? assistant?.name ?? context.random.pick(ASSISTANT_NAMES),
    action: given.action ?? "updated",
    user_id: actor.user_id,
    user_name: given.user_name ?? actor.user_name,
    user_email: given.user_email ?? actor.user_email,
    changes: given.changes ?? [],
    metadata: given.metadata ?? (past ? somewhere(context.random) : STATE_CALL),
  };
};

/** State calls reach the world from the machine it runs on. */
export const STATE_CALL: HistoryEntry["metadata"] = {
  ip_address: "127.0.0.1",
  user_agent: "understudy-control",
  source: "api",
};

const AGENTS = ["Mozilla/5.0 (X11; Linux x86_64)", "Mozilla/5.0 (Macintosh)", "python-sdk/2.4"];

function somewhere(random: Random): HistoryEntry["metadata"] {
  return {
    // Addresses of the documentation range (RFC 5737).
    ip_address: `203.0.113.${random.int(1, 254)}`,
    user_agent: random.pick(AGENTS),
    source: random.pick(["web", "api"]),
  };
}
