import { Type } from "typebox";
import { chooseCreation, type Factory } from "../../contract/factory.ts";
import {
  createEntryFormat,
  type FixtureEntry,
  readOrGenerate,
  toEntriesAndCount,
  toInterval,
} from "../../contract/fixture-entry.ts";
import { inventTitle } from "../../contract/invent.ts";
import { requireFirstRecord } from "../../contract/references.ts";
import type { BaseBuilder, FixtureReader } from "../../contract/resource.ts";
import { DAY_MS } from "../../state/clock.ts";
import { chooseOrganization, findAuthor } from "../organizations/access.ts";
import { Message, messages, Thread, threads } from "./schema.ts";

const EXCHANGES: readonly (readonly [question: string, answer: string])[] = [
  [
    "Can you summarise the travel policy for me?",
    "Trips under four hours go by train; everything above needs the approval of your lead.",
  ],
  ["Who approves hotel costs?", "Your lead approves hotels up to 180 CHF a night, Finance anything beyond."],
  [
    "Draft a short note to the team about it.",
    "Here is a draft: from next Monday, please book trains first and attach your lead's approval.",
  ],
  ["Make it friendlier.", "Done: I opened with a thank-you and moved the deadline to the last line."],
  ["What changed since last year?", "Two things: the night limit rose by 20 CHF, and trains come first."],
  ["Where do I find the form?", "Under People, Travel; it asks for the trip's purpose and your cost centre."],
  [
    "How long does a refund take?",
    "Ten working days after the receipts are in, five for amounts under 100 CHF.",
  ],
];

export const makeThread: Factory<Thread> = (fields, context) => {
  const { random, world } = context;
  const organization_id = chooseOrganization(context, fields.organization_id);
  return {
    id: fields.id ?? context.createId("thread_"),
    organization_id,
    owner_id: fields.owner_id ?? context.actor_id ?? findAuthor(world, organization_id),
    title: fields.title ?? inventTitle(context),
    created_at: fields.created_at ?? chooseCreation(context, () => random.int(2 * DAY_MS, 20 * DAY_MS)),
  };
};

export const makeMessage: Factory<Message> = (fields, context) => {
  const { random, now } = context;
  const role = fields.role ?? "user";
  return {
    id: fields.id ?? context.createId("msg_"),
    thread_id: fields.thread_id ?? requireFirstRecord(context, threads, "thread_id").id,
    role,
    content: fields.content ?? random.pick(EXCHANGES)[role === "assistant" ? 1 : 0],
    created_at: fields.created_at ?? now,
  };
};

const MINUTE_MS = 60_000;

const messageFormat = createEntryFormat(Message, { omit: ["thread_id"] });
const entryFormat = createEntryFormat(Thread, {
  required: ["id"],
  names: { owner_id: "owner" },
  more: {
    messages: Type.Optional(
      Type.Union([Type.Integer({ minimum: 0, maximum: 1_000_000 }), Type.Array(messageFormat.schema)]),
    ),
  },
});
type Entry = FixtureEntry<typeof entryFormat>;

export const threadsFixture: FixtureReader = {
  dependsOnSettings: ["locale"],
  keys: { threads: Type.Array(entryFormat.schema) },
  generate: { threads: Type.Integer({ minimum: 0, maximum: 2_000_000 }) },
  addRecords(fixture, base) {
    base.fill(threads, () =>
      readOrGenerate(fixture, "threads", entryFormat, "thread_").map((entry) => generateThread(entry, base)),
    );
    base.fill(messages, () =>
      readOrGenerate(fixture, "threads", entryFormat, "thread_").flatMap((entry) =>
        generateMessages(entry, generateThread(entry, base), base),
      ),
    );
  },
};

function generateThread(entry: Entry, base: BaseBuilder): Thread {
  return makeThread(entryFormat.toFields(entry, base), base.createContext("threads", entry.id));
}

/** Generates questions and answers, a minute apart or less if the thread is younger, from its beginning on. */
function generateMessages(entry: Entry, thread: Thread, base: BaseBuilder): Message[] {
  const { entries, count } = toEntriesAndCount(entry.messages ?? 2);
  const context = base.createContext("messages", entry.id);
  const interval = toInterval(thread.created_at, count, MINUTE_MS);
  const firstExchange = context.random.int(0, EXCHANGES.length - 1);
  return Array.from({ length: count }, (_, position) => {
    const fields = messageFormat.toFields(entries[position] ?? {}, base);
    const role = fields.role ?? (position % 2 === 0 ? "user" : "assistant");
    const exchange = EXCHANGES[(firstExchange + Math.floor(position / 2)) % EXCHANGES.length]!;
    const defaults = {
      content: exchange[role === "assistant" ? 1 : 0],
      created_at: thread.created_at + (position + 1) * interval,
    };
    return makeMessage({ ...defaults, ...fields, role, thread_id: thread.id }, context);
  });
}
