export const TIMER_KINDS = ["webhook.retry", "file.step", "connector.job", "expiry", "lease"] as const;
export type TimerKind = (typeof TIMER_KINDS)[number];
