import type { Factory, FactoryContext, RecordLookup } from "../../contract/factory.ts";
import { firstRecord } from "../../contract/references.ts";
import { authorOf } from "../organizations/people.ts";
import { organizations } from "../organizations/schema.ts";
import { milliseconds } from "./rules.ts";
import { FILENAMES, interviewSentence, spokenSeconds } from "./sample-text.ts";
import { type Sentence, sentences, type Transcription, transcriptions } from "./schema.ts";

const HOUR_MS = 3_600_000;

export const makeTranscription: Factory<Transcription> = (given, context) => {
  const { random, world, past, now } = context;
  const organization_id = given.organization_id ?? firstRecord(world, organizations, "organization_id").id;
  const status = given.status ?? "completed";
  const begun = given.created_at ?? (past ? longAgo(status, context) : undefined);
  const processing_time_ms = given.processing_time_ms ?? random.int(1200, 9000);
  const created_at = begun ?? (status === "processing" ? now : now - processing_time_ms);
  const ended = past ? created_at + processing_time_ms : now;
  const completed_at =
    given.completed_at === undefined ? (status === "completed" ? ended : null) : given.completed_at;
  return {
    transcription_id: given.transcription_id ?? context.newId("trans_"),
    organization_id,
    owner_id: given.owner_id ?? authorOf(world, organization_id),
    status,
    filename: given.filename ?? random.pick(FILENAMES),
    language_code: given.language_code ?? "en",
    audio_duration_seconds: given.audio_duration_seconds ?? random.int(60_000, 900_000) / 1000,
    pii_redaction: given.pii_redaction ?? null,
    processing_time_ms,
    upstream_latency_ms: given.upstream_latency_ms ?? random.int(400, 1100),
    retry_attempts: given.retry_attempts ?? (past && random.chance(0.1) ? 1 : 0),
    cache_hit: given.cache_hit ?? false,
    created_at,
    completed_at,
    updated_at: given.updated_at ?? (past ? (completed_at ?? created_at) : now),
  };
};

function longAgo(status: Transcription["status"], { random }: FactoryContext): number {
  return status === "processing" ? -random.int(20, 90) * 1000 : -random.int(12, 300) * HOUR_MS;
}

/** What is said next, unless the sentence says when it is. */
export const makeSentence: Factory<Sentence> = (given, context) => {
  const { random, world } = context;
  const transcription_id =
    given.transcription_id ?? firstRecord(world, transcriptions, "transcription_id").transcription_id;
  const text = given.text ?? nextSentence(transcription_id, context);
  const start = given.start ?? startOf({ ...given, transcription_id, text }, context);
  return {
    id: given.id ?? context.newId("sent_"),
    transcription_id,
    text,
    start,
    end: given.end ?? milliseconds(start + spokenSeconds(text, random)),
  };
};

function nextSentence(transcription_id: string, { random, world }: FactoryContext): string {
  const { size } = world.index(sentences, "by_transcription", transcription_id);
  const pii_redaction = world.get(transcriptions, transcription_id)?.pii_redaction ?? null;
  return interviewSentence(size, { random, pii_redaction });
}

/** After what was said last; where only the end is given, the words come before it. */
function startOf(
  { transcription_id, text, end }: Pick<Sentence, "transcription_id" | "text"> & { end?: number },
  { random, world }: FactoryContext,
): number {
  if (end !== undefined) return milliseconds(Math.max(0, end - spokenSeconds(text, random)));
  return milliseconds(lastEnd(world, transcription_id) + random.int(150, 900) / 1000);
}

function lastEnd(world: RecordLookup, transcription_id: string): number {
  const all = world.index(sentences, "by_transcription", transcription_id);
  const [last] = all.size === 0 ? [] : all.page(all.size - 1, 1);
  return last?.end ?? 0;
}
