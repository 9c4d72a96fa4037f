import { toMilliseconds } from "../../contract/duration.ts";
import { invalidInput } from "../../contract/errors.ts";
import type { StateRules } from "../../contract/resource.ts";
import type { Settings } from "../../contract/settings.ts";
import type { Random } from "../../state/random.ts";
import type { Transaction } from "../../state/transaction.ts";
import type { TimerHandler } from "../../state/world-parts.ts";
import { drawSpeechSeconds, inventSentence } from "./sample-text.ts";
import { type Sentence, sentences, type Transcription, transcriptions } from "./schema.ts";

/** Schedules the end of a transcription that begins now; later changes of the setting do not move it. */
function scheduleCompletion(tx: Transaction, subject: string, settings: Settings): void {
  tx.schedule({
    kind: "transcription.step",
    subject,
    due: tx.now + toMilliseconds(settings.transcription_seconds),
  });
}

/** Handles `transcription.step` timers: completes a transcription (G17). */
export const completeTranscription: TimerHandler = (tx, { subject, due }) => {
  const transcription = tx.get(transcriptions, subject);
  if (transcription?.status !== "processing") return;
  addMissingSentences(tx, transcription);
  tx.put(transcriptions, { ...transcription, status: "completed", completed_at: due, updated_at: due });
};

/** A transcription that completes has sentences, unless its audio is empty (G17). */
function addMissingSentences(tx: Transaction, transcription: Transcription): void {
  if (tx.index(sentences, "by_transcription", transcription.transcription_id).size === 0)
    tx.putAll(sentences, inventSentences(tx, transcription));
}

const MAX_INVENTED_SENTENCES = 2000;

function inventSentences(tx: Transaction, transcription: Transcription): Sentence[] {
  const { transcription_id, audio_duration_seconds, pii_redaction } = transcription;
  const random = tx.random("transcription");
  const invented: Sentence[] = [];
  let lastEnd = 0;
  while (invented.length < MAX_INVENTED_SENTENCES) {
    const text = inventSentence(invented.length, { random, pii_redaction });
    const start = roundToMilliseconds(lastEnd + drawPauseSeconds(random));
    const end = roundToMilliseconds(start + drawSpeechSeconds(text, random));
    const isTooLong = end > audio_duration_seconds;
    // Even a very short audio has a sentence.
    if (isTooLong && (invented.length > 0 || audio_duration_seconds === 0)) break;
    const span = isTooLong ? { start: 0, end: audio_duration_seconds } : { start, end };
    invented.push({ id: tx.createId("sent_"), transcription_id, text, ...span });
    lastEnd = end;
  }
  return invented;
}

export function drawPauseSeconds(random: Random): number {
  return (random.chance(0.15) ? random.int(1300, 2600) : random.int(150, 900)) / 1000;
}

export function roundToMilliseconds(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}

/** No endpoint creates transcriptions, so state calls do (G17). Its sentences and its timer are deleted with it. */
export const transcriptionStateRules: StateRules<Transcription> = {
  insert(tx, record, { settings }) {
    tx.insert(transcriptions, record);
    if (record.status === "processing") scheduleCompletion(tx, record.transcription_id, settings);
    return record;
  },
  update(tx, before, changed, { settings }) {
    const after = {
      ...changed,
      updated_at: changed.updated_at === before.updated_at ? tx.now : changed.updated_at,
    };
    const completed_at = after.completed_at ?? before.completed_at ?? tx.now;
    after.completed_at = after.status === "completed" ? completed_at : null;
    const { transcription_id, audio_duration_seconds } = after;
    let speechEnd = 0;
    for (const { end } of tx.index(sentences, "by_transcription", transcription_id))
      speechEnd = Math.max(speechEnd, end);
    if (audio_duration_seconds < speechEnd) {
      const reason = `the last sentence ends after ${speechEnd} seconds`;
      throw invalidInput("audio_duration_seconds", audio_duration_seconds, reason);
    }
    if (before.status !== after.status) {
      if (after.status === "processing") scheduleCompletion(tx, after.transcription_id, settings);
      else tx.unschedule("transcription.step", after.transcription_id);
      if (after.status === "completed") addMissingSentences(tx, after);
    }
    return tx.put(transcriptions, after);
  },
};

export const sentenceStateRules: StateRules<Sentence> = {
  insert(tx, record) {
    requireValidSpan(record);
    tx.insert(sentences, record);
    recordSentenceChange(tx, record.transcription_id, record.end);
    return record;
  },
  update(tx, before, after) {
    requireValidSpan(after);
    tx.put(sentences, after);
    if (before.transcription_id !== after.transcription_id) recordSentenceChange(tx, before.transcription_id);
    recordSentenceChange(tx, after.transcription_id, after.end);
    return after;
  },
  beforeRemove: (tx, { transcription_id }) => recordSentenceChange(tx, transcription_id),
};

function requireValidSpan({ start, end }: Sentence): void {
  if (end < start) throw invalidInput("end", end, "end must not be before start");
}

/** Records that sentences changed, and extends the audio to `end`. */
function recordSentenceChange(tx: Transaction, transcription_id: string, end = 0): void {
  const transcription = tx.get(transcriptions, transcription_id);
  // Missing if a saved document or a snapshot was edited.
  if (transcription === undefined) return;
  const audio_duration_seconds = Math.max(transcription.audio_duration_seconds, end);
  tx.update(transcriptions, transcription_id, { updated_at: tx.now, audio_duration_seconds });
}
