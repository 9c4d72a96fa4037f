import type { Outbound } from "../../hosts/node/outbound/outbound.ts";
import type { Settings } from "../contract/settings.ts";
import type { DeliveryFacts, DeliveryFault } from "../sandbox/fault-gate.ts";
import type { Transaction } from "../state/transaction.ts";
import type { TimerHandler, WorldParts } from "../state/world-parts.ts";
import type { MadeAttempt } from "./attempt.ts";
import { type DeliveryRules, Dispatcher } from "./dispatcher.ts";
import { Semaphore } from "./semaphore.ts";

/** What this part asks of a sandbox. */
export interface Sender {
  readonly settings: Settings;
}

export interface DeliveriesParts<S extends Sender> {
  outbound: Pick<Outbound, "send">;
  rules: DeliveryRules & { queueRetry(tx: Transaction, delivery_id: string): string | undefined };
  /** interfaces 6: `match: { event, webhook }`; what it returns happens as if the receiver had done so. */
  fault: (sandbox: S, facts: DeliveryFacts) => DeliveryFault | undefined;
  onError: (error: unknown) => void;
  /** Called once an attempt's outcome is recorded. */
  onAttempt: (sandbox: S, attempt: MadeAttempt) => void;
  /** Before an attempt leaves the server; at once unless given. */
  readyToSend?: (sandbox: S) => Promise<void>;
}

export interface Deliveries<S extends Sender> {
  /** One dispatcher per world; a reset makes a new world, and the old one's dispatcher lets go of everything. */
  worldParts(sandbox: S): Required<Pick<WorldParts, "onCommit" | "onReplace">> & {
    timerHandlers: { "webhook.retry": TimerHandler };
  };
  /** Waits for an attempt to end; false when it was called off. */
  attempt(sandbox: S, attempt_id: string): Promise<boolean>;
}

/** The sender of a server: a dispatcher per sandbox over one bounded outbound client (6.4, G24). */
export function createDeliveries<S extends Sender>(parts: DeliveriesParts<S>): Deliveries<S> {
  const { outbound, rules, fault, onError, onAttempt, readyToSend = async () => {} } = parts;
  const budget = new Semaphore();
  const dispatchers = new WeakMap<S, Dispatcher>();
  return {
    worldParts(sandbox) {
      const dispatcher = new Dispatcher({
        outbound,
        budget,
        rules,
        settings: () => sandbox.settings,
        fault: (facts) => fault(sandbox, facts),
        onError,
        onAttempt: (attempt) => onAttempt(sandbox, attempt),
        readyToSend: () => readyToSend(sandbox),
      });
      dispatchers.set(sandbox, dispatcher);
      return {
        onCommit: (world, commit) => dispatcher.onCommit(world, commit),
        onReplace: (world) => dispatcher.onReplace(world),
        timerHandlers: {
          "webhook.retry": (tx, { subject }) => {
            const id = rules.queueRetry(tx, subject);
            return id === undefined ? undefined : () => dispatcher.done(id);
          },
        },
      };
    },
    attempt: (sandbox, attempt_id) => dispatchers.get(sandbox)?.done(attempt_id) ?? Promise.resolve(false),
  };
}
