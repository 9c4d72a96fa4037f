import type { GradedSandbox } from "../../../tools/client-test/client-check.ts";
import { sandboxCalls } from "../../api/calls.ts";

/** The calls of the control API that a client test makes. */
export function toGradedSandbox(name: string): GradedSandbox {
  const calls = sandboxCalls(name);
  return {
    info: calls.show,
    configure: calls.configure,
    clock: { set: calls.setClock },
    faults: { add: calls.addRule, remove: calls.removeRule },
    journal: { list: calls.journal, clear: calls.clearJournal },
    snapshots: { save: calls.takeSnapshot, restore: calls.restoreSnapshot, remove: calls.removeSnapshot },
    receivers: { add: calls.openReceiver, list: calls.receivers, requests: calls.received },
  };
}
