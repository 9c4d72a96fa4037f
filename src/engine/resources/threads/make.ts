import type { Make } from "../../contract/make.ts";
import { anyOf } from "../../contract/references.ts";
import { authorOf } from "../organizations/people.ts";
import { organizations } from "../organizations/schema.ts";
import { EXCHANGES, THREAD_TITLES } from "./sample-text.ts";
import { type Message, type Thread, threads } from "./schema.ts";

const DAY_MS = 86_400_000;

export const makeThread: Make<Thread> = (given, making) => {
  const { random, world, past, now } = making;
  const organization_id = given.organization_id ?? anyOf(world, organizations, "organization_id").id;
  return {
    id: given.id ?? making.newId("thread_"),
    organization_id,
    owner_id: given.owner_id ?? authorOf(world, organization_id),
    title: given.title ?? random.pick(THREAD_TITLES),
    created_at: given.created_at ?? (past ? -random.int(2 * DAY_MS, 20 * DAY_MS) : now),
  };
};

export const makeMessage: Make<Message> = (given, making) => {
  const { random, world, now } = making;
  const role = given.role ?? "user";
  return {
    id: given.id ?? making.newId("msg_"),
    thread_id: given.thread_id ?? anyOf(world, threads, "thread_id").id,
    role,
    content: given.content ?? random.pick(EXCHANGES)[role === "assistant" ? 1 : 0],
    created_at: given.created_at ?? now,
  };
};
