import type { Pending } from "../../api/types.ts";
import { counted } from "../../parts/counted.ts";
import type { Outcome } from "../../parts/mark.tsx";

type Kind = Pending["kind"];

const WORDS: Record<Kind, [one: string, many: string]> = {
  "webhook.retry": ["webhook retry", "webhook retries"],
  "file.step": ["file step", "file steps"],
  "connector.job": ["connector job", "connector jobs"],
  "transcription.step": ["transcription", "transcriptions"],
  "meeting.line": ["meeting line", "meeting lines"],
  invoice: ["invoice", "invoices"],
  expiry: ["expiry", "expiries"],
  lease: ["end of a lease", "ends of leases"],
};

export const SHAPES: Record<Kind, Outcome> = {
  "webhook.retry": "refused",
  "file.step": "ok",
  "connector.job": "other",
  "transcription.step": "ok",
  "meeting.line": "other",
  invoice: "waiting",
  expiry: "failed",
  lease: "fault",
};

export function kindWord(kind: Kind): string {
  return WORDS[kind][0];
}

/** "3 webhook retries". */
export function kindWords(kind: string, count: number): string {
  const [one, many] = WORDS[kind as Kind];
  return counted(count, one, many);
}
