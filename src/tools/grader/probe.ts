import { setTimeout as wait } from "node:timers/promises";
import { isJsonObject } from "../../engine/contract/schema.ts";
import { formatSeconds } from "../../engine/contract/text.ts";
import { type SendOptions, sendRaw } from "./network.ts";

export interface ProbeReading {
  count: number;
  /** One entry per side effect; null if the probe only counts. */
  ids: string[] | null;
}

/** The probe cannot be used. Reported as an error, so that it never looks as if nothing happened. */
export class ProbeError extends Error {}

interface ProbeOptions extends SendOptions {
  url: URL;
  /** How long the reading must stay the same, in milliseconds, so that a late second side effect is seen. */
  settleMs: number;
  /** How long the first side effect may take after the answer, in milliseconds. */
  patienceMs: number;
}

/** Delivery id -> number of side effects. */
export type ExpectedEffects = ReadonlyMap<string, number>;

export interface Effects {
  /** How they differ from the expected ones, or null. */
  difference: string | null;
  /** Whether some were missing at the end of the patience; they may come later, or never. */
  missing: boolean;
  /** When the last of them was seen, or the patience ended, in milliseconds after the start. */
  latenessMs: number;
  lastReading: ProbeReading;
}

/** Deliveries accepted since the reading `from`, whose side effects may still happen. */
interface PendingEffects {
  from: ProbeReading | null;
  pending: ReadonlySet<string>;
}

const SHORT_PATIENCE_MS = 500;
const MAX_ANSWER_BYTES = 1024 * 1024;

const UNSETTLED =
  "the probe's count keeps rising although nothing is sent; let it answer the list of ids, or grade while the receiver gets no other deliveries";

export class Probe {
  private readonly options: ProbeOptions;
  /** How late the first side effects came. */
  private latenessMs = 0;

  constructor(options: ProbeOptions) {
    this.options = { ...options };
  }

  /** Adapts the waits to side effects that come this late. */
  adaptToLateness(latenessMs: number): void {
    this.latenessMs = Math.max(this.latenessMs, latenessMs);
    this.options.patienceMs = Math.max(this.options.patienceMs, Math.ceil(latenessMs * 1.5));
  }

  shortenPatience(): void {
    this.options.patienceMs = Math.min(this.options.patienceMs, SHORT_PATIENCE_MS);
  }

  /** @throws ProbeError if the probe cannot be reached, or its answer has an unknown form */
  async read(): Promise<ProbeReading> {
    const { url } = this.options;
    const headers: [string, string][] = [["Accept", "application/json"]];
    const result = await sendRaw(
      { method: "GET", url, headers, body: Buffer.alloc(0), maxAnswerBytes: MAX_ANSWER_BYTES },
      this.options,
    );
    const { error, response_code: status } = result;
    if (error !== undefined) throw new ProbeError(`the probe gave no answer (${error.message})`);
    if (result.truncated)
      throw new ProbeError(
        "the probe's answer is longer than 1 MB; let it answer a count, or the newest ids only",
      );
    if (status !== 200) throw new ProbeError(`the probe answered ${status} instead of 200`);
    return parseReading(result.body.toString("utf8"));
  }

  /**
   * Waits for a reading that no longer changes and has the `pending` deliveries, since a receiver that works
   * after its answer may still be busy with deliveries of earlier checks.
   * @throws ProbeError if a mere count never settles, since it then proves nothing
   */
  async readSettled({ from, pending }: PendingEffects): Promise<ProbeReading> {
    const giveUp = performance.now() + this.options.patienceMs;
    let reading = await this.read();
    for (;;) {
      await this.pause(this.options.settleMs);
      const next = await this.read();
      // A list is searched by delivery id, so others may arrive in between.
      const isSettled = next.ids !== null || next.count === reading.count;
      if (isSettled && includesPending(next, { from, pending })) return next;
      if (performance.now() >= giveUp) {
        if (!isSettled) throw new ProbeError(UNSETTLED);
        return next;
      }
      reading = next;
    }
  }

  /**
   * Waits for the expected side effects (receivers may work after their answer), then a little longer, so
   * that a late second one is seen too.
   */
  async compare(before: ProbeReading, expected: ExpectedEffects): Promise<Effects> {
    const { patienceMs, settleMs } = this.options;
    const started = performance.now();
    const giveUp = started + patienceMs;
    let reading = await this.read();
    while (areEffectsMissing(before, reading, expected) && performance.now() < giveUp) {
      await this.pause(Math.min(25 + (performance.now() - started) / 20, 250));
      reading = await this.read();
    }
    const latenessMs = performance.now() - started;
    // If none is expected, nothing was awaited so far, and an unexpected one may come as late as the first ones did.
    await this.pause(sumEffects(expected) === 0 ? Math.max(settleMs, this.latenessMs * 1.5) : settleMs);
    const lastReading = await this.read();
    const difference = findDifference(before, lastReading, expected);
    const missing = difference !== null && areEffectsMissing(before, lastReading, expected);
    return {
      difference: missing ? `${difference}, in ${formatSeconds(patienceMs)}` : difference,
      missing,
      latenessMs,
      lastReading,
    };
  }

  private async pause(ms: number): Promise<void> {
    await wait(ms, undefined, { signal: this.options.signal });
  }
}

function includesPending({ ids, count }: ProbeReading, { from, pending }: PendingEffects): boolean {
  if (ids !== null) return [...pending].every((id) => ids.includes(id));
  return from === null || count - from.count >= pending.size;
}

function areEffectsMissing(before: ProbeReading, after: ProbeReading, expected: ExpectedEffects): boolean {
  if (after.ids === null) return after.count - before.count < sumEffects(expected);
  return [...expected].some(
    ([id, expectedCount]) => countOccurrences(after, id) - countOccurrences(before, id) < expectedCount,
  );
}

function sumEffects(expected: ExpectedEffects): number {
  return [...expected.values()].reduce((sum, one) => sum + one, 0);
}

function findDifference(before: ProbeReading, after: ProbeReading, expected: ExpectedEffects): string | null {
  if (after.ids === null) {
    const total = sumEffects(expected);
    const count = after.count - before.count;
    return count === total ? null : `the probe's count rose by ${count} instead of ${total}`;
  }
  for (const [id, expectedCount] of expected) {
    const count = countOccurrences(after, id) - countOccurrences(before, id);
    if (count !== expectedCount)
      return `the probe lists delivery ${id} ${formatTimes(count)} instead of ${formatTimes(expectedCount)}`;
  }
  return null;
}

export function countOccurrences({ ids }: ProbeReading, id: string): number {
  return (ids ?? []).filter((one) => one === id).length;
}

function formatTimes(count: number): string {
  return ["not at all", "once", "twice"][count] ?? `${count} times`;
}

/** Reads a number, `{count}`, a list of ids, or an object with such a list. */
function parseReading(text: string): ProbeReading {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ProbeError("the probe's answer is not JSON");
  }
  const count = isJsonObject(value) && "count" in value ? value["count"] : value;
  if (typeof count === "number" && Number.isInteger(count) && count >= 0) return { count, ids: null };
  const list = isJsonObject(value) ? Object.values(value).find(Array.isArray) : value;
  const ids = Array.isArray(list) ? list.map(readDeliveryId) : undefined;
  if (!ids?.every((id) => typeof id === "string"))
    throw new ProbeError(
      "the probe's answer is neither a whole number, nor {count}, nor a list of delivery ids",
    );
  return { count: ids.length, ids };
}

function readDeliveryId(entry: unknown): unknown {
  if (!isJsonObject(entry)) return entry;
  if ("delivery_id" in entry) return entry["delivery_id"];
  const { id } = entry;
  return typeof id === "string" && id.startsWith("del_") ? id : undefined;
}
