import { Type } from "typebox";
import { toMilliseconds } from "../../contract/duration.ts";
import type { Factory, FactoryContext } from "../../contract/factory.ts";
import {
  createEntryFormat,
  type FixtureEntry,
  readEntries,
  toEntriesAndCount,
} from "../../contract/fixture-entry.ts";
import { inventFilename } from "../../contract/invent.ts";
import { requireFirstRecord } from "../../contract/references.ts";
import type { BaseBuilder, FixtureReader } from "../../contract/resource.ts";
import { computeOnce } from "../../maps.ts";
import { HOUR_MS } from "../../state/clock.ts";
import { chooseOrganization, findAuthor } from "../organizations/access.ts";
import { drawPauseSeconds, roundToMilliseconds } from "./rules.ts";
import { drawSpeechSeconds, inventSentence } from "./sample-text.ts";
import { Sentence, sentences, Transcription, transcriptions } from "./schema.ts";

const AUDIO_EXTENSIONS = [".m4a", ".mp3", ".wav", ".flac"];

export const makeTranscription: Factory<Transcription> = (fields, context) => {
  const { random, world, isFixture, now } = context;
  const organization_id = chooseOrganization(context, fields.organization_id);
  const status = fields.status ?? "completed";
  const startedAt = fields.created_at ?? (isFixture ? pickPastStart(status, context) : undefined);
  // A transcription that has ended ended by now.
  const maxProcessing =
    isFixture && status === "completed" && startedAt !== undefined && startedAt <= now
      ? now - startedAt
      : Number.POSITIVE_INFINITY;
  const processing_time_ms = fields.processing_time_ms ?? Math.min(random.int(1200, 9000), maxProcessing);
  const defaultEnd = fields.completed_at ?? now;
  const created_at = startedAt ?? (status === "processing" ? now : defaultEnd - processing_time_ms);
  const endedAt = isFixture ? created_at + processing_time_ms : now;
  const completed_at = status === "completed" ? (fields.completed_at ?? endedAt) : null;
  return {
    transcription_id: fields.transcription_id ?? context.createId("trans_"),
    organization_id,
    owner_id: fields.owner_id ?? context.actor_id ?? findAuthor(world, organization_id),
    status,
    filename: fields.filename ?? inventFilename(random.pick(AUDIO_EXTENSIONS), context),
    language_code: fields.language_code ?? "en",
    audio_duration_seconds: fields.audio_duration_seconds ?? random.int(60_000, 900_000) / 1000,
    pii_redaction: fields.pii_redaction ?? null,
    processing_time_ms,
    upstream_latency_ms: fields.upstream_latency_ms ?? random.int(400, 1100),
    retry_attempts: fields.retry_attempts ?? (isFixture && random.chance(0.1) ? 1 : 0),
    cache_hit: fields.cache_hit ?? false,
    created_at,
    completed_at,
    updated_at: fields.updated_at ?? (isFixture ? (completed_at ?? created_at) : now),
  };
};

function pickPastStart(status: Transcription["status"], { random }: FactoryContext): number {
  return status === "processing" ? -random.int(20, 90) * 1000 : -random.int(12, 300) * HOUR_MS;
}

/** Makes a sentence that follows the last one, unless its times are given. */
export const makeSentence: Factory<Sentence> = (fields, context) => {
  const { random } = context;
  const transcription_id =
    fields.transcription_id ??
    requireFirstRecord(context, transcriptions, "transcription_id").transcription_id;
  const text = fields.text ?? pickNextSentence(transcription_id, context);
  const start = fields.start ?? findNextStart({ ...fields, transcription_id, text }, context);
  return {
    id: fields.id ?? context.createId("sent_"),
    transcription_id,
    text,
    start,
    end: fields.end ?? roundToMilliseconds(start + drawSpeechSeconds(text, random)),
  };
};

function pickNextSentence(transcription_id: string, { random, world }: FactoryContext): string {
  const { size } = world.index(sentences, "by_transcription", transcription_id);
  const pii_redaction = world.get(transcriptions, transcription_id)?.pii_redaction ?? null;
  return inventSentence(size, { random, pii_redaction });
}

/** A start after the last sentence, or before the end if only the end is given. */
function findNextStart(
  { transcription_id, text, end }: Pick<Sentence, "transcription_id" | "text"> & { end?: number },
  { random, world }: FactoryContext,
): number {
  if (end !== undefined) return roundToMilliseconds(Math.max(0, end - drawSpeechSeconds(text, random)));
  const last = world.index(sentences, "by_transcription", transcription_id).last();
  return roundToMilliseconds((last?.end ?? 0) + random.int(150, 900) / 1000);
}

const DEFAULT_SENTENCES = 12;

const sentenceFormat = createEntryFormat(Sentence, { required: ["text"], omit: ["id", "transcription_id"] });
const entryFormat = createEntryFormat(Transcription, {
  required: ["transcription_id"],
  omit: [
    "processing_time_ms",
    "upstream_latency_ms",
    "retry_attempts",
    "cache_hit",
    "completed_at",
    "updated_at",
  ],
  names: { transcription_id: "id", owner_id: "owner" },
  more: {
    sentences: Type.Optional(
      Type.Union([Type.Integer({ minimum: 0, maximum: 1_000_000 }), Type.Array(sentenceFormat.schema)], {
        description: "The number of sentences to generate, or the sentences",
      }),
    ),
  },
});
type Entry = FixtureEntry<typeof entryFormat>;

export const transcriptionsFixture: FixtureReader = {
  keys: { transcriptions: Type.Array(entryFormat.schema) },
  dependsOnSettings: ["transcription_seconds", "locale"],
  check(fixture, report) {
    for (const [position, entry] of readEntries(fixture, "transcriptions", entryFormat).entries()) {
      const { audio_duration_seconds = Number.POSITIVE_INFINITY } = entry;
      for (const [index, { start, end }] of toEntriesAndCount(entry.sentences ?? []).entries.entries()) {
        const reportTime = (field: "start" | "end", place: string) =>
          report(["transcriptions", position, "sentences", index, field], `${field} lies ${place}`);
        if (start !== undefined && end !== undefined && end < start) reportTime("end", "before start");
        if (end !== undefined && end > audio_duration_seconds)
          reportTime("end", "after the end of the audio");
        else if (start !== undefined && start > audio_duration_seconds)
          reportTime("start", "after the end of the audio");
      }
    }
  },
  addRecords(fixture, base) {
    const getTranscriptions = computeOnce(() =>
      readEntries(fixture, "transcriptions", entryFormat).map((entry) => generateTranscription(entry, base)),
    );
    base.fill(transcriptions, () => getTranscriptions().map(({ transcription }) => transcription));
    base.fill(sentences, () => getTranscriptions().flatMap(({ generatedSentences }) => generatedSentences));
    for (const { id, status } of readEntries(fixture, "transcriptions", entryFormat)) {
      if (status !== "processing") continue;
      // Counted from the fixture's epoch (G17).
      const due = toMilliseconds(base.createContext("transcriptions", id).settings.transcription_seconds);
      base.addTimer({ kind: "transcription.step", subject: id, due });
    }
  },
};

function generateTranscription(entry: Entry, base: BaseBuilder) {
  const context = base.createContext("transcriptions", entry.id);
  const generatedSentences = fitIntoAudio(generateSentences(entry, { base, context }), entry);
  const speechLength = generatedSentences.reduce((longest, { end }) => Math.max(longest, end), 0);
  const pause = context.random.int(500, 4000) / 1000;
  const fields = entryFormat.toFields(entry, base);
  // The factory chooses the length of the audio while no sentence is known.
  const defaultDuration =
    generatedSentences.length === 0 && fields.status === "processing"
      ? undefined
      : roundToMilliseconds(speechLength + pause);
  const audio_duration_seconds = fields.audio_duration_seconds ?? defaultDuration;
  return {
    transcription: makeTranscription({ ...fields, audio_duration_seconds }, context),
    generatedSentences,
  };
}

/** Leaves out sentences that the entry does not ask for, and shortens the others, until they fit into its audio. */
function fitIntoAudio(
  generated: Sentence[],
  { sentences: asked, audio_duration_seconds: length = Number.POSITIVE_INFINITY }: Entry,
): Sentence[] {
  const isChosen = (end: number, position: number) =>
    asked !== undefined || end <= length || (position === 0 && length > 0);
  const chosen = generated.filter(({ end }, position) => isChosen(end, position));
  const speechLength = chosen.reduce((longest, { end }) => Math.max(longest, end), 0);
  if (speechLength <= length) return chosen;
  const { entries } = toEntriesAndCount(asked ?? []);
  const shorten = (seconds: number) => Math.floor((seconds * length * 1000) / speechLength) / 1000;
  return chosen.map((sentence, position) => {
    const { start = shorten(sentence.start), end = Math.max(start, shorten(sentence.end)) } =
      entries[position] ?? {};
    return { ...sentence, start, end };
  });
}

function generateSentences(
  entry: Entry,
  { base, context }: { base: BaseBuilder; context: FactoryContext },
): Sentence[] {
  const { random } = context;
  const defaultCount = entry.status === "processing" ? 0 : DEFAULT_SENTENCES;
  const { entries, count } = toEntriesAndCount(entry.sentences ?? defaultCount);
  const options = { random, pii_redaction: entry.pii_redaction ?? null };
  let lastEnd = 0;
  return Array.from({ length: count }, (_, position) => {
    const givenSentence = entries[position];
    const fields = givenSentence ? sentenceFormat.toFields(givenSentence, base) : {};
    const text = fields.text ?? inventSentence(position, options);
    const pause = drawPauseSeconds(random);
    const start =
      fields.start ?? Math.min(roundToMilliseconds(lastEnd + pause), fields.end ?? Number.POSITIVE_INFINITY);
    const end = fields.end ?? roundToMilliseconds(start + drawSpeechSeconds(text, random));
    lastEnd = end;
    return makeSentence({ transcription_id: entry.id, text, start, end }, context);
  });
}
