import { randomInt } from "node:crypto";
import { type SampleOf, sampleData } from "../../engine/contract/event.ts";
import { NOWHERE } from "../../engine/contract/event-sample.ts";
import { EVENTS, eventNamed } from "../../engine/resources/events.ts";
import { webhookTest } from "../../engine/resources/webhooks/events.ts";
import { Random } from "../../engine/state/random.ts";

/** Every event that the service may send, its test included. */
export const SENT_EVENTS: readonly string[] = [...EVENTS, webhookTest].map(({ name }) => name);

/** Fields that some event's data has. */
export const DATA_FIELDS: ReadonlySet<string> = new Set([...EVENTS, webhookTest].flatMap(({ data }) => data));

/**
 * Data of an event as its declaration has it, field by field: what a receiver that validates has to accept (6.2,
 * G25). Drawn anew each time. Empty for an event that the service does not have.
 */
export function drawEventData(
  event: string,
  { at, known }: { at: number; known: SampleOf["known"] },
): Record<string, unknown> {
  const declared = event === webhookTest.name ? webhookTest : eventNamed(event);
  if (declared === undefined) return {};
  const random = new Random(randomInt(2 ** 31), "grader");
  const data = sampleData(declared, { world: NOWHERE, at, random, known });
  // Some validators refuse the reserved domain of the people made up, and none refuses this one; some take an
  // address only once.
  const { email } = data;
  if (typeof email === "string" && !("email" in known))
    data["email"] = email.replace(/@.*$/, `.${random.letters(6)}@example.com`);
  return data;
}
