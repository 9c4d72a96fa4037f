import type { Settings } from "../../contract/settings.ts";
import type { Random } from "../../state/random.ts";
import type { Transaction } from "../../state/transaction.ts";
import { interviewSentence, spokenSeconds } from "./sample-text.ts";
import { type Sentence, sentences, type Transcription, transcriptions } from "./schema.ts";

/** G17: how long a transcription takes that begins now, in whole milliseconds. */
export function transcribingMs({ transcription_seconds }: Pick<Settings, "transcription_seconds">): number {
  return Math.round(transcription_seconds * 1000);
}

/** Sets the end of a transcription that begins now; a setting that changes later does not move it. */
export function beginTranscribing(
  tx: Transaction,
  { transcription_id }: Transcription,
  settings: Settings,
): void {
  const due = tx.now + transcribingMs(settings);
  tx.schedule({ kind: "transcription.step", subject: transcription_id, due });
}

/** The timer of a transcription: it is completed, and has its sentences (G17). */
export function completeTranscription(
  tx: Transaction,
  { subject, due }: { subject: string; due: number },
): void {
  const transcription = tx.get(transcriptions, subject);
  if (transcription?.status !== "processing") return;
  if (tx.index(sentences, "by_transcription", subject).size === 0)
    tx.putAll(sentences, heardIn(tx, transcription));
  tx.put(transcriptions, { ...transcription, status: "completed", completed_at: due, updated_at: due });
}

const MAX_HEARD = 2000;

/** As much as fits into the audio. */
function heardIn(tx: Transaction, transcription: Transcription): Sentence[] {
  const { transcription_id, audio_duration_seconds, pii_redaction } = transcription;
  const random = tx.random("transcription");
  const heard: Sentence[] = [];
  for (let clock = 0; heard.length < MAX_HEARD; ) {
    const text = interviewSentence(heard.length, { random, pii_redaction });
    const start = milliseconds(clock + pauseSeconds(random));
    const end = milliseconds(start + spokenSeconds(text, random));
    if (end > audio_duration_seconds) {
      // However short it is, somebody speaks in it.
      if (heard.length === 0 && audio_duration_seconds > 0)
        heard.push({ id: tx.newId("sent_"), transcription_id, text, start: 0, end: audio_duration_seconds });
      break;
    }
    heard.push({ id: tx.newId("sent_"), transcription_id, text, start, end });
    clock = end;
  }
  return heard;
}

/** Between two sentences; now and then somebody thinks first. */
export function pauseSeconds(random: Random): number {
  return (random.chance(0.15) ? random.int(1300, 2600) : random.int(150, 900)) / 1000;
}

/** Seconds are kept to the millisecond. */
export function milliseconds(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}
