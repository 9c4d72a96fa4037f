/** Section 6.1: the events a webhook may subscribe to. */
export const EVENT_NAMES = [
  "user.created",
  "user.updated",
  "user.deleted",
  "user.verified",
  "message.created",
  "message.updated",
  "message.deleted",
  "thread.created",
  "thread.updated",
  "thread.deleted",
  "file.uploaded",
  "file.deleted",
  "file.processed",
  "usage.threshold",
  "usage.limit",
  "invoice.created",
  "invoice.paid",
  "invoice.failed",
] as const;
export type EventName = (typeof EVENT_NAMES)[number];

/** What 4.21's test sends (G23); nobody subscribes to it. */
export const TEST_EVENT = "webhook.test";

export function isEventName(text: string): text is EventName {
  return (EVENT_NAMES as readonly string[]).includes(text);
}
