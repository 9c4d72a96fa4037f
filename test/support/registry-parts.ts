import { createApi } from "../../src/engine/contract/api.ts";
import { RequestCounter } from "../../src/engine/sandbox/counters.ts";
import type { FaultInjector, FaultVerdict } from "../../src/engine/sandbox/fault-types.ts";
import type { RegistryParts } from "../../src/engine/sandbox/registry.ts";
import type { BlobStore } from "../../src/engine/sandbox/snapshots.ts";

/** For tests of sandboxes without uploads, faults and listeners. */
export const NO_BLOBS: BlobStore = {
  capture: () => undefined,
  peek: () => undefined,
  tryRecover: () => ({ captured: undefined, lostUploads: [] }),
  hold() {},
  restore() {},
  release() {},
  countBytes: () => 0,
  encode: async () => undefined,
  decode: async () => undefined,
};

const NO_INJECTION: FaultVerdict = { injection: undefined, reasons: [] };

export const NO_FAULTS: FaultInjector = {
  mayAffectRequests: false,
  undeclaredOperation: undefined as never,
  matchesUndeclaredPaths: false,
  rules: {
    ...{ revision: 0, scenarios: [], active: [], stages: [], paths: [] },
    onHold() {},
    moveLeases: () => {},
  },
  enterStages: () => undefined,
  before: () => NO_INJECTION,
  after: () => NO_INJECTION,
  evaluateDelivery: () => undefined,
  setScenarios() {},
  setInitialScenarios() {},
  reset() {},
  toState: () => ({ first: [], active: [], inline: [], progress: {}, numbered: 0 }),
  restoreState: () => [],
  close() {},
};

const NO_API = createApi([]);

/** Completes the parts of a registry with ones that do nothing. */
export function completeParts(
  given: Pick<RegistryParts, "fixtures" | "defaults" | "wallClock"> & Partial<RegistryParts>,
): RegistryParts {
  return {
    api: () => NO_API,
    faults: () => NO_FAULTS,
    worldParts: () => ({ timerHandlers: {}, onEmit: () => {}, onCommit: () => {} }),
    followSettings() {},
    onDiscard() {},
    onDelete() {},
    onChange() {},
    blobs: NO_BLOBS,
    counter: new RequestCounter(),
    ...given,
  };
}
