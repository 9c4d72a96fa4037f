import type { HeavyWork, OutboundClient, Services } from "./engine/contract/services.ts";
import { FairQueue } from "./engine/sandbox/fair-queue.ts";
import type { Actor } from "./engine/sandbox/history-entry.ts";
import type { Sandbox } from "./engine/sandbox/sandbox.ts";
import { nextChange } from "./engine/state/next-change.ts";
import type { Deliveries } from "./engine/webhooks/dispatcher.ts";
import type { UploadStore } from "./hosts/node/storage/upload-store.ts";

/**
 * A document is read in a thread with memory of its own, decoded images are large: so many at once. One of each for a
 * sandbox, so that beside one that floods the server another finds the second place free; a text is read in turns that
 * last some milliseconds, and a second would make each of them longer.
 */
export function heavyWork(): Record<HeavyWork, FairQueue<Sandbox>> {
  return {
    document: new FairQueue({ size: 2, each: 1 }),
    image: new FairQueue({ size: 2, each: 1 }),
    text: new FairQueue({ size: 1, each: 1 }),
  };
}

interface ServiceParts {
  outbound: OutboundClient;
  uploads: UploadStore;
  deliveries: Deliveries<Sandbox>;
  queues: Record<HeavyWork, FairQueue<Sandbox>>;
}

/** What handlers of a sandbox may ask of the server; what they change is `by`'s doing. */
export function servicesOf(sandbox: Sandbox, parts: ServiceParts, by?: Actor): Services {
  const { world } = sandbox;
  const { outbound, uploads, deliveries, queues } = parts;
  return {
    outbound,
    inTurn: (kind, signal, work) => queues[kind].run(sandbox, signal, work),
    attemptDelivery: (attempt_id) => deliveries.attempt(sandbox, attempt_id),
    bytes: uploads.of(sandbox),
    get settings() {
      return sandbox.settings;
    },
    read: () => world.read(),
    transact: (change) => world.transact(change, by),
    changed: (signal) => nextChange(world, signal),
    get isClosed() {
      return world.isClosed;
    },
  };
}
