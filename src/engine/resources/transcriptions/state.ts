import { invalidInput } from "../../contract/errors.ts";
import type { StateRules } from "../../contract/resource.ts";
import type { Transaction } from "../../state/transaction.ts";
import { beginTranscribing } from "./rules.ts";
import { type Sentence, sentences, type Transcription, transcriptions } from "./schema.ts";

/** G17 names no endpoint that makes transcriptions, so they come and go through state calls. */
export const transcriptionRules: StateRules<Transcription> = {
  insert(tx, record, { settings }) {
    tx.insert(transcriptions, record);
    if (record.status === "processing") beginTranscribing(tx, record, settings);
    return record;
  },
  update(tx, before, given, { settings }) {
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
    if (before.status !== after.status) {
      if (after.status === "processing") beginTranscribing(tx, after, settings);
      else tx.unschedule("transcription.step", after.transcription_id);
    }
    return tx.put(transcriptions, after);
  },
};

export const sentenceRules: StateRules<Sentence> = {
  insert(tx, record) {
    requireSpan(record);
    tx.insert(sentences, record);
    touch(tx, record.transcription_id, record.end);
    return record;
  },
  update(tx, before, after) {
    requireSpan(after);
    tx.put(sentences, after);
    if (before.transcription_id !== after.transcription_id) touch(tx, before.transcription_id);
    touch(tx, after.transcription_id, after.end);
    return after;
  },
  remove: (tx, { transcription_id }) => touch(tx, transcription_id),
};

function requireSpan({ start, end }: Sentence): void {
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

/** Looks at all of them, for the rare change of a length. */
function longestEnd(tx: Transaction, transcription_id: string): number {
  let longest = 0;
  for (const { end } of tx.index(sentences, "by_transcription", transcription_id))
    longest = Math.max(longest, end);
  return longest;
}
