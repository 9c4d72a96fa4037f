import type { Factory } from "../../contract/factory.ts";
import { firstRecord } from "../../contract/references.ts";
import { authorOf } from "../organizations/people.ts";
import { organizations } from "../organizations/schema.ts";
import { EXCHANGES, THREAD_TITLES } from "./sample-text.ts";
import { type Message, type Thread, threads } from "./schema.ts";

const DAY_MS = 86_400_000;

export const makeThread: Factory<Thread> = (given, context) => {
  const { random, world, past, now } = context;
  const organization_id = given.organization_id ?? firstRecord(world, organizations, "organization_id").id;
  return {
    id: given.id ?? context.newId("thread_"),
    organization_id,
    owner_id: given.owner_id ?? authorOf(world, organization_id),
    title: given.title ?? random.pick(THREAD_TITLES),
    created_at: given.created_at ?? (past ? -random.int(2 * DAY_MS, 20 * DAY_MS) : now),
  };
};

export const makeMessage: Factory<Message> = (given, context) => {
  const { random, world, now } = context;
  const role = given.role ?? "user";
  return {
    id: given.id ?? context.newId("msg_"),
    thread_id: given.thread_id ?? firstRecord(world, threads, "thread_id").id,
    role,
    content: given.content ?? random.pick(EXCHANGES)[role === "assistant" ? 1 : 0],
    created_at: given.created_at ?? now,
  };
};
