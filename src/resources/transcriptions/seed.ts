import Type, { type Static } from "typebox";
import type { BaseBuilder, FixtureData, FixtureReader } from "../../contract/resource.ts";
import { Id, Nullable, Timestamp, UserId, Words } from "../../contract/schema.ts";
import type { Random } from "../../state/random.ts";
import { entriesOf, firstOrganization, generatedId, ownerOf } from "../organizations/of-fixture.ts";
import {
  PiiPolicy,
  type Sentence,
  sentences,
  TRANSCRIPTION_STATUSES,
  type Transcription,
  transcriptions,
} from "./schema.ts";
import { FILENAMES, interviewSentence, spokenSeconds } from "./words.ts";

const HOUR = 3_600_000;

const SentenceEntry = Type.Object(
  {
    text: Type.String(),
    start: Type.Optional(Type.Number({ minimum: 0 })),
    end: Type.Optional(Type.Number({ minimum: 0 })),
  },
  { additionalProperties: false },
);

const TranscriptionEntry = Type.Object(
  {
    id: Id("trans_"),
    organization_id: Type.Optional(Id("org_")),
    owner: Type.Optional(UserId()),
    status: Type.Optional(Words(TRANSCRIPTION_STATUSES)),
    filename: Type.Optional(Type.String({ minLength: 1 })),
    language_code: Type.Optional(Type.String({ minLength: 2, maxLength: 35 })),
    audio_duration_seconds: Type.Optional(Type.Number({ minimum: 0 })),
    created_at: Type.Optional(Timestamp()),
    sentences: Type.Optional(
      Type.Union([Type.Integer({ minimum: 0, maximum: 1_000_000 }), Type.Array(SentenceEntry)], {
        description: "How many sentences to make up, or the sentences themselves",
      }),
    ),
    pii_redaction: Type.Optional(Nullable(Type.Array(PiiPolicy, { minItems: 1, uniqueItems: true }))),
  },
  { additionalProperties: false },
);
type Entry = Static<typeof TranscriptionEntry>;

export const transcriptionsFixture: FixtureReader = {
  keys: { transcriptions: Type.Array(TranscriptionEntry) },
  seed(fixture, base) {
    const entries = () =>
      entriesOf<Entry>(fixture, "transcriptions", (n) => ({ id: generatedId("trans_", n) }));
    // A transcription is as long as what is said in it, so both are made when either is first read.
    let made: { transcription: Transcription; spoken: Sentence[] }[] | undefined;
    const all = () => {
      made ??= entries().map((entry) => transcribed(entry, fixture, base));
      return made;
    };
    base.fill(transcriptions, () => all().map(({ transcription }) => transcription));
    base.fill(sentences, () => all().flatMap(({ spoken }) => spoken));
  },
};

function transcribed(entry: Entry, fixture: FixtureData, base: BaseBuilder) {
  const random = base.random("transcriptions", entry.id);
  const spoken = sentencesIn(entry, random);
  const organization_id = entry.organization_id ?? firstOrganization(fixture);
  const status = entry.status ?? "completed";
  const length = lengthOf(spoken) + random.int(500, 4000) / 1000;
  const pending = status === "processing";
  const created_at = entry.created_at
    ? base.instant(entry.created_at)
    : pending
      ? -random.int(20, 90) * 1000
      : -random.int(12, 300) * HOUR;
  const processing_time_ms = random.int(1200, 9000);
  const completed_at = status === "completed" ? created_at + processing_time_ms : null;
  const transcription: Transcription = {
    transcription_id: entry.id,
    organization_id,
    owner_id: entry.owner ?? ownerOf(fixture, organization_id),
    status,
    filename: entry.filename ?? random.pick(FILENAMES),
    language_code: entry.language_code ?? "en",
    audio_duration_seconds: Math.max(lengthOf(spoken), entry.audio_duration_seconds ?? milliseconds(length)),
    pii_redaction: entry.pii_redaction ?? null,
    processing_time_ms,
    upstream_latency_ms: random.int(400, 1100),
    retry_attempts: random.chance(0.1) ? 1 : 0,
    cache_hit: false,
    created_at,
    completed_at,
    updated_at: completed_at ?? created_at,
  };
  return { transcription, spoken };
}

function sentencesIn({ id, sentences: wanted, ...entry }: Entry, random: Random): Sentence[] {
  const count =
    typeof wanted === "number" ? wanted : (wanted?.length ?? (entry.status === "processing" ? 0 : 12));
  const given = typeof wanted === "number" ? [] : (wanted ?? []);
  let clock = 0;
  return Array.from({ length: count }, (_, position) => {
    const telling = { random, pii_redaction: entry.pii_redaction ?? null };
    const text = given[position]?.text ?? interviewSentence(position, telling);
    const pause = random.chance(0.15) ? random.int(1300, 2600) : random.int(150, 900);
    const start = given[position]?.start ?? milliseconds(clock + pause / 1000);
    const end = Math.max(start, given[position]?.end ?? milliseconds(start + spokenSeconds(text, random)));
    clock = end;
    return { id: `sent_${random.letters(20)}`, transcription_id: id, text, start, end };
  });
}

function lengthOf(spoken: readonly Sentence[]): number {
  return spoken.reduce((longest, { end }) => Math.max(longest, end), 0);
}

function milliseconds(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}
