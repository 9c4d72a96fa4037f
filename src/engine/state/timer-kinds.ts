export const TIMER_KINDS = [
  "webhook.retry",
  "file.step",
  "connector.job",
  "transcription.step",
  "meeting.line",
  "invoice",
  "expiry",
  "lease",
] as const;
export type TimerKind = (typeof TIMER_KINDS)[number];
