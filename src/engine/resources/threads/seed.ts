import Type from "typebox";
import { type EntryOf, entriesOf, fixtureRecord } from "../../contract/fixture-record.ts";
import type { BaseBuilder, FixtureData, FixtureReader } from "../../contract/resource.ts";
import { makeMessage, makeThread } from "./make.ts";
import { EXCHANGES } from "./sample-text.ts";
import { Message, messages, Thread, threads } from "./schema.ts";

const MINUTE_MS = 60_000;

const messageRecord = fixtureRecord(Message, { omit: ["thread_id"] });
const record = fixtureRecord(Thread, {
  needs: ["id"],
  names: { owner_id: "owner" },
  more: {
    messages: Type.Optional(
      Type.Union([Type.Integer({ minimum: 0, maximum: 1_000_000 }), Type.Array(messageRecord.schema)]),
    ),
  },
});
type Entry = EntryOf<typeof record>;

export const threadsFixture: FixtureReader = {
  keys: { threads: Type.Array(record.schema) },
  generate: { threads: Type.Integer({ minimum: 0, maximum: 2_000_000 }) },
  seed(fixture, base) {
    base.fill(threads, () => all(fixture).map((entry) => threadOf(entry, base)));
    base.fill(messages, () =>
      all(fixture).flatMap((entry) => messagesOf(entry, threadOf(entry, base), base)),
    );
  },
};

function all(fixture: FixtureData): Entry[] {
  const given = entriesOf(fixture, "threads", record);
  const missing = Math.max(0, Number(fixture.generate?.["threads"] ?? 0) - given.length);
  const generated = Array.from({ length: missing }, (_, i) => ({
    id: `thread_gen${String(i).padStart(7, "0")}`,
  }));
  return [...given, ...generated];
}

function threadOf(entry: Entry, base: BaseBuilder): Thread {
  return makeThread(record.given(entry, base), base.context("threads", entry.id));
}

/** Question and answer in turn, a minute apart, from the thread's beginning on. */
function messagesOf(entry: Entry, thread: Thread, base: BaseBuilder): Message[] {
  const wanted = entry.messages ?? 2;
  const listed = typeof wanted === "number" ? [] : wanted;
  const count = typeof wanted === "number" ? wanted : wanted.length;
  const context = base.context("messages", entry.id);
  const first = context.random.int(0, EXCHANGES.length - 1);
  return Array.from({ length: count }, (_, position) => {
    const turn = position % 2;
    const said = {
      role: turn === 0 ? ("user" as const) : ("assistant" as const),
      content: EXCHANGES[(first + Math.floor(position / 2)) % EXCHANGES.length]![turn]!,
      created_at: thread.created_at + (position + 1) * MINUTE_MS,
    };
    const given = messageRecord.given(listed[position] ?? {}, base);
    return makeMessage({ ...said, ...given, thread_id: thread.id }, context);
  });
}
