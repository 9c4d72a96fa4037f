import type { AnyEvent } from "../contract/event.ts";
import { FILE_EVENTS } from "./files/rules.ts";
import { INVOICE_EVENTS } from "./invoices.ts";
import { THREAD_EVENTS } from "./threads/rules.ts";
import { USAGE_EVENTS } from "./usage/spending.ts";
import { USER_EVENTS } from "./users/rules.ts";
import { VECTOR_STORE_EVENTS } from "./vector-stores/rules.ts";

/**
 * The events that webhooks can subscribe to (section 6.1), in the order of lists and documents. They are listed here, not in
 * each `Resource`, since schemas of some resources import the event names.
 */
export const EVENTS = [
  ...USER_EVENTS,
  ...THREAD_EVENTS,
  ...FILE_EVENTS,
  ...VECTOR_STORE_EVENTS,
  ...USAGE_EVENTS,
  ...INVOICE_EVENTS,
] as const;

export type EventName = (typeof EVENTS)[number]["name"];
export const EVENT_NAMES: readonly EventName[] = EVENTS.map(({ name }) => name);

export function findEventByName(name: string): AnyEvent | undefined {
  return EVENTS.find((event) => event.name === name);
}
