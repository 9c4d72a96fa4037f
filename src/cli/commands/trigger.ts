import { setTimeout as sleep } from "node:timers/promises";
import type { SandboxClient } from "../../client/sandbox.ts";
import type { EventName, Triggered, TriggerOptions } from "../../client/types.ts";
import { choice, flag, number, readTypedValues, sandboxCommand, text, texts } from "../command.ts";
import { UsageError } from "../failure.ts";
import { formatTable } from "../process.ts";
import { type Attempt, readLatestAttempts } from "./deliveries.ts";

const MAX_COUNT = 10_000;

export const triggerCommand = sandboxCommand({
  command: "trigger <event>",
  describe: "Emit a webhook event as a real change would",
  args: { event: "An event name such as user.created" },
  options: {
    for: text("Id of the object that the event is about"),
    set: texts("path=value that overrides a field of the data; repeatable"),
    organization: text("The organization whose webhooks receive it, by id"),
    count: number("How many events", { default: 1 }),
    rate: text("With --count: the maximum per second, such as 5/s"),
    duplicate: flag("Deliver each twice, with the same id and bytes, as if an answer was lost"),
    shuffle: flag("With --count: deliver the events in another order"),
    expect: choice(["success"], "Exit 1 unless a webhook receives the event and every attempt succeeds"),
  },
  examples: [
    ["$0 trigger user.created --count 100 --rate 20/s --expect success", "Does the receiver keep up?"],
    ["$0 trigger user.created --count 9 --duplicate --shuffle", "Is each processed once, in any order?"],
    ["$0 trigger file.processed --for file_handbook", "As if its processing had just ended"],
    ["$0 trigger user.created --set email=new@acme.test", "With a field of your own"],
  ],
  check({ count, shuffle, rate, set }) {
    if (!Number.isInteger(count) || count < 1 || count > MAX_COUNT)
      throw new UsageError(`--count takes a whole number from 1 to ${MAX_COUNT}`);
    parseRate(rate);
    parseData(set);
    for (const [option, isGiven] of Object.entries({ shuffle, rate: rate !== undefined }))
      if (isGiven && count < 2) throw new UsageError(`--${option} needs --count of 2 or more`);
  },
  toOptionName: (inputField) => (inputField.startsWith("data.") ? `--set ${inputField.slice(5)}` : undefined),
  async run({ event, for: subject, set, organization, count, rate, duplicate, shuffle, expect }, sandbox) {
    const send = shuffle ? sendOutOfOrder : sendInOrder;
    const sent = await send(sandbox, {
      // The server refuses unknown events, and suggests the nearest.
      event: event as EventName,
      options: { for: subject, data: parseData(set), organization },
      count,
      duplicate,
      intervalMs: parseRate(rate),
    });
    const { attempts } = sent;
    const failed = attempts.filter(({ status }) => status === "failed");
    const reasons = new Map(failed.toReversed().map(({ delivery_id, why }) => [delivery_id, why]));
    const deliveries = sent.deliveries.map((delivery) => ({
      ...delivery,
      why: reasons.get(delivery.delivery_id) ?? null,
    }));
    const rows = attempts.map(({ delivery_id, webhook_id, status, response_code, why }) => [
      delivery_id,
      webhook_id,
      status,
      response_code === 0 ? "none" : String(response_code),
      why ?? "",
    ]);
    const text =
      rows.length === 0
        ? `${event} was emitted; no active webhook is registered for it.${await listInactive(sandbox, event, organization)}`
        : formatTable(["delivery", "webhook", "status", "answer", "why"], rows);
    const why =
      attempts.length === 0
        ? "no webhook received it"
        : `${failed.length} of ${attempts.length} attempts failed`;
    const isFailed = expect !== undefined && (attempts.length === 0 || failed.length > 0);
    return { value: { deliveries }, text, ...(isFailed && { failed: why }) };
  },
});

/** Inactive webhooks, of one organization if it is given, that are subscribed to the event, a line each. */
async function listInactive(
  sandbox: SandboxClient,
  event: string,
  organization_id: string | undefined,
): Promise<string> {
  const { items } = await sandbox.state("webhooks").list({ active: false, organization_id });
  const subscribed = items.filter(({ events }) => (events as readonly string[]).includes(event));
  return subscribed
    .map(
      ({ webhook_id, inactive_because: why }) =>
        `\n${webhook_id} is inactive: ${why ?? "no reason was given"}.`,
    )
    .join("");
}

type Deliveries = Triggered["deliveries"];

interface Sent {
  /** Each once. */
  deliveries: Deliveries;
  /** A delivery that succeeded stays delivered when its second attempt fails. */
  attempts: Attempt[];
}

interface Sending {
  event: EventName;
  options: TriggerOptions;
  count: number;
  /** Between two events, or two deliveries out of order; a duplicate follows its delivery at once. */
  intervalMs: number;
  /** Send each delivery a second time, with its id and its bytes. */
  duplicate: boolean;
}

async function sendInOrder(sandbox: SandboxClient, sending: Sending): Promise<Sent> {
  const { event, options, count, intervalMs, duplicate } = sending;
  const sent: Sent = { deliveries: [], attempts: [] };
  const nextTurn = createPacer(intervalMs);
  for (let i = 0; i < count; i++) {
    await nextTurn();
    const { deliveries } = await sandbox.events.trigger(event, options);
    sent.deliveries = sent.deliveries.concat(deliveries);
    sent.attempts = sent.attempts.concat(await readLatestAttempts(sandbox, deliveries));
    const ids = deliveries.map(({ delivery_id }) => delivery_id);
    if (!duplicate || ids.length === 0) continue;
    const { items } = await sandbox.deliveries.redeliver({ ids, again: true });
    sent.attempts = sent.attempts.concat(await readLatestAttempts(sandbox, items));
  }
  return sent;
}

/** A rule makes the first attempts fail, as an outage would; then each delivery is sent again (interfaces.md 14). */
async function sendOutOfOrder(sandbox: SandboxClient, sending: Sending): Promise<Sent> {
  const { event, options, count, intervalMs, duplicate } = sending;
  const match = { event };
  const outage = await sandbox.faults.add({ match, effect: { status: 503 }, lease: { ttl: "1m" } });
  const deliveryIds: string[] = [];
  try {
    for (let i = 0; i < count; i++) {
      const { deliveries } = await sandbox.events.trigger(event, options);
      for (const { delivery_id } of deliveries) deliveryIds.push(delivery_id);
    }
  } finally {
    await sandbox.faults.remove(outage.id);
  }
  const deliveriesById = new Map<string, Deliveries[number]>();
  let attempts: Attempt[] = [];
  const nextTurn = createPacer(intervalMs);
  for (const id of reorder(duplicate ? [...deliveryIds, ...deliveryIds] : deliveryIds)) {
    await nextTurn();
    const { body, log, exchanges, ...delivery } = await sandbox.deliveries.get(id);
    // A minute after its staged failure, the sandbox has delivered it by a retry.
    const isDelivered = delivery.status === "success" && !deliveriesById.has(id);
    const { items } = isDelivered
      ? { items: [delivery] }
      : await sandbox.deliveries.redeliver({ ids: [id], again: true });
    for (const one of items) deliveriesById.set(id, one);
    attempts = attempts.concat(await readLatestAttempts(sandbox, items));
  }
  return { deliveries: deliveryIds.flatMap((id) => deliveriesById.get(id) ?? []), attempts };
}

function createPacer(intervalMs: number): () => Promise<void> {
  let nextStart = performance.now();
  return async () => {
    const wait = nextStart - performance.now();
    if (wait > 0) await sleep(wait);
    nextStart = Math.max(nextStart + intervalMs, performance.now());
  };
}

/** Returns an order that depends only on the length: the last third, then every second of the others, then their rest. */
function reorder<T>(items: readonly T[]): T[] {
  const third = Math.ceil(items.length / 3);
  const [others, last] = [items.slice(0, -third), items.slice(-third)];
  const takeEverySecond = (start: 0 | 1) => others.filter((_, position) => position % 2 === start);
  return [...last, ...takeEverySecond(1), ...takeEverySecond(0)];
}

/** Milliseconds between two events of a rate such as `5/s` or `5`. @throws UsageError */
function parseRate(rate: string | undefined): number {
  if (rate === undefined) return 0;
  const perSecond = Number(/^(\d+(?:\.\d+)?)(?:\/s)?$/.exec(rate)?.[1] ?? Number.NaN);
  if (!(perSecond > 0)) throw new UsageError(`--rate takes events a second such as 5/s, not "${rate}"`);
  return 1000 / perSecond;
}

/** `a.b=1` becomes `{a: {b: 1}}`; a value that is JSON is read as JSON. @throws UsageError */
function parseData(assignments: readonly string[] | undefined): Record<string, unknown> | undefined {
  if (assignments === undefined) return undefined;
  const data: Record<string, unknown> = {};
  for (const [place, value] of Object.entries(readTypedValues("--set", assignments, "path=value"))) {
    const path = place.split(".");
    if (path.some((part) => ["", "__proto__", "constructor", "prototype"].includes(part)))
      throw new UsageError(`--set cannot address "${place}"`);
    let parent = data;
    for (const part of path.slice(0, -1)) {
      if (typeof parent[part] !== "object" || parent[part] === null) parent[part] = {};
      parent = parent[part] as Record<string, unknown>;
    }
    parent[path.at(-1)!] = value;
  }
  return data;
}
