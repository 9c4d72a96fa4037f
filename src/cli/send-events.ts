import { setTimeout as sleep } from "node:timers/promises";
import type { SandboxClient } from "../client/sandbox.ts";
import type { EventName, Triggered, TriggerOptions } from "../client/types.ts";

export interface Sending {
  event: EventName;
  options: TriggerOptions;
  count: number;
  /** Milliseconds between two of them. */
  apart: number;
  /** Each delivery once more, with its id and its bytes. */
  duplicate: boolean;
  /** In another order than the one in which the events happened. */
  shuffle: boolean;
}

type Deliveries = Triggered["deliveries"];

/**
 * Emits events, and delivers them as a sender does in the wild (interfaces 14): more than once, out of order. Resolves with
 * each delivery as its last attempt has left it.
 */
export async function sendEvents(sandbox: SandboxClient, sending: Sending): Promise<Deliveries> {
  return sending.shuffle ? sentOutOfOrder(sandbox, sending) : sentInOrder(sandbox, sending);
}

async function sentInOrder(sandbox: SandboxClient, sending: Sending): Promise<Deliveries> {
  const { event, options, count, apart, duplicate } = sending;
  const sent: Deliveries = [];
  const turn = paced(apart);
  for (let i = 0; i < count; i++) {
    await turn();
    const { deliveries } = await sandbox.events.trigger(event, options);
    const ids = deliveries.map(({ delivery_id }) => delivery_id);
    if (duplicate && ids.length > 0) await sandbox.deliveries.redeliver({ ids, again: true });
    for (const delivery of deliveries) sent.push(delivery);
  }
  return sent;
}

/** A rule keeps the first attempts from their receivers, as an outage would; what arrives is sent anew, one by one. */
async function sentOutOfOrder(sandbox: SandboxClient, sending: Sending): Promise<Deliveries> {
  const { event, options, count, apart, duplicate } = sending;
  const outage = await sandbox.faults.add({
    match: { event },
    effect: { status: 503 },
    lease: { ttl: "1m" },
  });
  const held: string[] = [];
  try {
    for (let i = 0; i < count; i++) {
      const { deliveries } = await sandbox.events.trigger(event, options);
      for (const { delivery_id } of deliveries) held.push(delivery_id);
    }
  } finally {
    await sandbox.faults.remove(outage.id);
  }
  const left = new Map<string, Deliveries[number]>();
  const turn = paced(apart);
  for (const id of outOfOrder(duplicate ? [...held, ...held] : held)) {
    await turn();
    const { items } = await sandbox.deliveries.redeliver({ ids: [id], again: true });
    for (const one of items) left.set(id, one);
  }
  return held.flatMap((id) => left.get(id) ?? []);
}

/** Resolves when it is time for the next. */
function paced(apart: number): () => Promise<void> {
  let due = performance.now();
  return async () => {
    const wait = due - performance.now();
    if (wait > 0) await sleep(wait);
    due = Math.max(due, performance.now() - apart) + apart;
  };
}

/** The same order for as many, never that in which they came: the last third first, then every other one of the rest. */
export function outOfOrder<T>(items: readonly T[]): T[] {
  const third = Math.ceil(items.length / 3);
  const [rest, last] = [items.slice(0, -third), items.slice(-third)];
  const every = (odd: number) => rest.filter((_, position) => position % 2 === odd);
  return [...last, ...every(1), ...every(0)];
}
