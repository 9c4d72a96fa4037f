import type { Timer, TimerKind } from "../state/timers.ts";
import type { Act } from "./history-entry.ts";

const WORDS: Record<TimerKind, (subject: string) => string> = {
  "webhook.retry": (subject) => `The retry of ${subject} became due.`,
  "file.step": (subject) => `A step of processing ${subject} ended.`,
  "connector.job": (subject) => `The connector job ${subject} ended.`,
  "transcription.step": (subject) => `The transcription ${subject} was completed.`,
  "meeting.line": (subject) => `Somebody spoke in ${subject}.`,
  invoice: (subject) => `${subject} was due to be invoiced or paid.`,
  expiry: (subject) => `${subject} expired.`,
  lease: (subject) => `The lease of the rule ${subject} ended.`,
};

export function timerAct({ kind, subject }: Timer): Act {
  return { kind: "timer", title: WORDS[kind](subject), subject };
}
