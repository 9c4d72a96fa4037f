import { invalidInput } from "../../contract/errors.ts";
import type { StateRules } from "../../contract/resource.ts";
import type { Transaction } from "../../state/transaction.ts";
import { anyOf, personOf, referred } from "../organizations/references.ts";
import { organizations } from "../organizations/schema.ts";
import { users } from "../users/schema.ts";
import { type Sentence, sentences, type Transcription, transcriptions } from "./schema.ts";
import { FILENAMES, interviewSentence, spokenSeconds } from "./words.ts";

/** G17 names no endpoint that makes transcriptions, so they come and go through state calls. */
export const transcriptionRules: StateRules<Transcription> = {
  complete(fields, tx, { random }) {
    const organization_id = fields.organization_id ?? anyOf(tx, organizations, "organization_id").id;
    const status = fields.status ?? "completed";
    const processing_time_ms = random.int(1200, 9000);
    return {
      owner_id: personOf(tx, organization_id),
      filename: random.pick(FILENAMES),
      language_code: "en",
      audio_duration_seconds: random.int(60_000, 900_000) / 1000,
      pii_redaction: null,
      processing_time_ms,
      upstream_latency_ms: random.int(400, 1100),
      retry_attempts: 0,
      cache_hit: false,
      created_at: status === "processing" ? tx.now : tx.now - processing_time_ms,
      completed_at: status === "completed" ? tx.now : null,
      updated_at: tx.now,
      ...fields,
      organization_id,
      status,
    };
  },
  insert(tx, record) {
    requireReferences(tx, record);
    return tx.insert(transcriptions, record);
  },
  update(tx, before, given) {
    requireReferences(tx, given);
    const after = {
      ...given,
      updated_at: given.updated_at === before.updated_at ? tx.now : given.updated_at,
    };
    if (before.status !== after.status && before.completed_at === after.completed_at)
      after.completed_at = after.status === "completed" ? tx.now : null;
    const spoken = longestEnd(tx, after.transcription_id);
    if (after.audio_duration_seconds < spoken) {
      throw invalidInput(
        "audio_duration_seconds",
        after.audio_duration_seconds,
        `the last sentence ends after ${spoken} seconds`,
      );
    }
    return tx.put(transcriptions, after);
  },
  remove(tx, { transcription_id }) {
    for (const { id } of tx.index(sentences, "by_transcription", transcription_id)) tx.remove(sentences, id);
    tx.remove(transcriptions, transcription_id);
  },
};

function requireReferences(tx: Transaction, { organization_id, owner_id }: Transcription): void {
  referred(tx, organizations, { field: "organization_id", id: organization_id });
  referred(tx, users, { field: "owner_id", id: owner_id });
}

export const sentenceRules: StateRules<Sentence> = {
  complete(fields, tx, { random }) {
    const transcription =
      fields.transcription_id === undefined
        ? anyOf(tx, transcriptions, "transcription_id")
        : tx.get(transcriptions, fields.transcription_id);
    const transcription_id = fields.transcription_id ?? transcription!.transcription_id;
    const { size } = tx.index(sentences, "by_transcription", transcription_id);
    const telling = { random, pii_redaction: transcription?.pii_redaction ?? null };
    const text = fields.text ?? interviewSentence(size, telling);
    const next = milliseconds(lastEnd(tx, transcription_id) + random.int(150, 900) / 1000);
    const spoken = spokenSeconds(text, random);
    // Where only the end is given, the words come before it.
    const before = fields.end === undefined ? undefined : milliseconds(Math.max(0, fields.end - spoken));
    const start = fields.start ?? before ?? next;
    const end = milliseconds(start + spoken);
    return { end, ...fields, transcription_id, text, start };
  },
  insert(tx, record) {
    requireSpan(tx, record);
    tx.insert(sentences, record);
    touch(tx, record.transcription_id, record.end);
    return record;
  },
  update(tx, before, after) {
    requireSpan(tx, after);
    tx.put(sentences, after);
    if (before.transcription_id !== after.transcription_id) touch(tx, before.transcription_id);
    touch(tx, after.transcription_id, after.end);
    return after;
  },
  remove(tx, record) {
    tx.remove(sentences, record.id);
    touch(tx, record.transcription_id);
  },
};

function requireSpan(tx: Transaction, { transcription_id, start, end }: Sentence): void {
  referred(tx, transcriptions, { field: "transcription_id", id: transcription_id });
  if (end < start) throw invalidInput("end", end, "end must not lie before start");
}

/** The audio is at least as long as what is said in it; what ends last need not have begun last. */
function touch(tx: Transaction, transcription_id: string, end = 0): void {
  const { audio_duration_seconds } = tx.get(transcriptions, transcription_id)!;
  tx.update(transcriptions, transcription_id, {
    updated_at: tx.now,
    audio_duration_seconds: Math.max(audio_duration_seconds, end),
  });
}

function lastEnd(tx: Transaction, transcription_id: string): number {
  const all = tx.index(sentences, "by_transcription", transcription_id);
  const [last] = all.size === 0 ? [] : all.page(all.size - 1, 1);
  return last?.end ?? 0;
}

/** Looks at all of them, for the rare change of a length. */
function longestEnd(tx: Transaction, transcription_id: string): number {
  let longest = 0;
  for (const { end } of tx.index(sentences, "by_transcription", transcription_id))
    longest = Math.max(longest, end);
  return longest;
}

function milliseconds(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}
