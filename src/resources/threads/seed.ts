import Type, { type Static } from "typebox";
import type { BaseBuilder, FixtureData, FixtureReader } from "../../contract/resource.ts";
import { Id, Timestamp, UserId, Words } from "../../contract/schema.ts";
import { firstOrganization, ownerOf } from "../organizations/of-fixture.ts";
import { ContentBlock, MESSAGE_ROLES, type Message, messages, type Thread, threads } from "./schema.ts";
import { EXCHANGES, THREAD_TITLES } from "./words.ts";

const MINUTE = 60_000;
const DAY = 86_400_000;

const MessageEntry = Type.Object(
  {
    id: Type.Optional(Id("msg_")),
    role: Type.Optional(Words(MESSAGE_ROLES)),
    content: Type.Optional(Type.Union([Type.String(), Type.Array(ContentBlock)])),
    created_at: Type.Optional(Timestamp()),
  },
  { additionalProperties: false },
);

const ThreadEntry = Type.Object(
  {
    id: Id("thread_"),
    organization_id: Type.Optional(Id("org_")),
    owner: Type.Optional(UserId()),
    title: Type.Optional(Type.String()),
    created_at: Type.Optional(Timestamp()),
    messages: Type.Optional(
      Type.Union([Type.Integer({ minimum: 0, maximum: 1_000_000 }), Type.Array(MessageEntry)]),
    ),
  },
  { additionalProperties: false },
);
type Entry = Static<typeof ThreadEntry>;

export const threadsFixture: FixtureReader = {
  keys: { threads: Type.Array(ThreadEntry) },
  generate: { threads: Type.Integer({ minimum: 0, maximum: 2_000_000 }) },
  seed(fixture, base) {
    base.fill(threads, () => entriesOf(fixture).map((entry) => threadOf(entry, fixture, base)));
    base.fill(messages, () =>
      entriesOf(fixture).flatMap((entry) => messagesOf(entry, threadOf(entry, fixture, base), base)),
    );
  },
};

function entriesOf(fixture: FixtureData): Entry[] {
  const given = (fixture["threads"] ?? []) as Entry[];
  const missing = Math.max(0, Number(fixture.generate?.["threads"] ?? 0) - given.length);
  const generated = Array.from({ length: missing }, (_, i) => ({
    id: `thread_gen${String(i).padStart(7, "0")}`,
  }));
  return [...given, ...generated];
}

function threadOf(entry: Entry, fixture: FixtureData, base: BaseBuilder): Thread {
  const random = base.random("threads", entry.id);
  const organization_id = entry.organization_id ?? firstOrganization(fixture);
  return {
    id: entry.id,
    organization_id,
    owner_id: entry.owner ?? ownerOf(fixture, organization_id),
    title: entry.title ?? random.pick(THREAD_TITLES),
    created_at: entry.created_at ? base.instant(entry.created_at) : -random.int(2 * DAY, 20 * DAY),
  };
}

/** Question and answer in turn, a minute apart, from the thread's beginning on. */
function messagesOf(entry: Entry, thread: Thread, base: BaseBuilder): Message[] {
  const wanted = entry.messages ?? 2;
  const listed = typeof wanted === "number" ? [] : wanted;
  const count = typeof wanted === "number" ? wanted : wanted.length;
  const random = base.random("messages", entry.id);
  const first = random.int(0, EXCHANGES.length - 1);
  return Array.from({ length: count }, (_, position) => {
    const given = listed[position];
    const turn = position % 2;
    return {
      id: given?.id ?? `msg_${random.letters(20)}`,
      thread_id: thread.id,
      role: given?.role ?? (turn === 0 ? "user" : "assistant"),
      content: given?.content ?? EXCHANGES[(first + Math.floor(position / 2)) % EXCHANGES.length]![turn]!,
      created_at: given?.created_at
        ? base.instant(given.created_at)
        : thread.created_at + (position + 1) * MINUTE,
    };
  });
}
