import type { ByteStore, FormSpace, HeavyWork, OutboundClient, Services } from "./contract/services.ts";
import type { ChangeSource } from "./sandbox/history-entry.ts";
import type { Sandbox } from "./sandbox/sandbox.ts";
import { FairQueue } from "./state/concurrency.ts";
import type { Deliveries } from "./webhooks/dispatcher.ts";

export interface ServiceParts {
  outbound: OutboundClient;
  /** The bytes of a sandbox's uploads. */
  uploads: { forSandbox(sandbox: Sandbox): ByteStore & FormSpace };
  deliveries: Deliveries<Sandbox>;
}

/** Returns a function that creates the services of a sandbox. Changes made through them have the given source. */
export function createServices(parts: ServiceParts): (sandbox: Sandbox, source?: ChangeSource) => Services {
  const { outbound, uploads, deliveries } = parts;
  // Few run at a time: documents are read in threads with memory of their own, decoded images are large, and texts are
  // read in the server's own thread, in slices of some milliseconds, between which all requests wait. A sandbox runs at
  // most one of each, so that it cannot use all slots.
  const queues: Record<HeavyWork, FairQueue<Sandbox>> = {
    document: new FairQueue(2),
    image: new FairQueue(2),
    text: new FairQueue(1),
  };
  return (sandbox, source) => {
    const { world } = sandbox;
    return {
      outbound,
      runQueued: (kind, signal, work) => queues[kind].run(sandbox, signal, work),
      waitForAttempt: (attempt_id) => deliveries.waitForAttempt(sandbox, attempt_id),
      bytes: uploads.forSandbox(sandbox),
      get settings() {
        return sandbox.settings;
      },
      read: () => world.read(),
      transact: (change) => world.transact(change, source),
      waitForChange: (signal) => world.waitForChange(signal),
      get isClosed() {
        return world.isClosed;
      },
    };
  };
}
