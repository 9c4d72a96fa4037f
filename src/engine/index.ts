import type { Api } from "./contract/api.ts";
import { type FaultOptions, Faults } from "./faults/faults.ts";
import { handleRequest } from "./pipeline/engine.ts";
import type { EngineParts } from "./pipeline/engine-parts.ts";
import { type CompleteAnswer, type PlainRequest, readAddress } from "./pipeline/plain-http.ts";
import { platform } from "./platform.ts";
import { SimulatedReceivers } from "./receivers/simulated-receivers.ts";
import { listDeletedKeyIds } from "./resources/api-keys/rules.ts";
import { explainCredentials, identify } from "./resources/auth/credentials.ts";
import { listUploadsToRelease } from "./resources/files/rules.ts";
import { RESOURCES } from "./resources/index.ts";
import { requireMember } from "./resources/organizations/access.ts";
import { listSpendingFigures, requireBudget } from "./resources/usage/spending.ts";
import {
  DELIVERY_RULES,
  describeNextStep,
  getWebhookSecret,
  listKnownSecrets,
} from "./resources/webhooks/deliveries.ts";
import { RequestCounter } from "./sandbox/counters.ts";
import { describeUnusable } from "./sandbox/fault-types.ts";
import { combineListeners, combineTimerHandlers } from "./sandbox/listeners.ts";
import { type RegistryParts, SandboxRegistry } from "./sandbox/registry.ts";
import type { Sandbox } from "./sandbox/sandbox.ts";
import { createServices, type ServiceParts } from "./services.ts";
import { makeMonotonicClock } from "./state/clock.ts";
import type { Commit } from "./state/world-parts.ts";
import { createDeliveries } from "./webhooks/dispatcher.ts";
import { findAttemptEntry, toJournalEntry } from "./webhooks/journal-attempt.ts";

interface HostParts
  extends Pick<EngineParts, "readForm" | "toHostRefusal" | "log">,
    Partial<Pick<EngineParts, "durability" | "refuseGrowth" | "refuseDefault" | "upstream">>,
    Partial<Pick<RegistryParts, "serverKey" | "onDelete">>,
    Partial<Pick<FaultOptions, "overrides" | "delay">> {
  fixtures: RegistryParts["fixtures"] & { setResources(resources: Api["resources"]): void };
  scenarios: FaultOptions["scenarios"] & { setApi(api: Api): void };
  /** For sandboxes that set none themselves. Default: the reference world, seed 1, the real clock. */
  defaults: Partial<RegistryParts["defaults"]>;
  /** The operations of all sandboxes: those of the reference, and the host's own. */
  api: Api;
  outbound: ServiceParts["outbound"] & Parameters<typeof createDeliveries>[0]["outbound"];
  uploads: ServiceParts["uploads"] & RegistryParts["blobs"] & { discard(sandbox: Sandbox): void };
  /** Follows the changes of all sandboxes, for bundles. */
  recordings: {
    onCommit(sandbox: Sandbox, commit: Commit): void;
    onChange: RegistryParts["onChange"];
    onLeaseEnd(sandbox: Sandbox, receiver_id: string): void;
  };
  /** Resolves once the changes that a delivery reports are stored; undefined if deliveries need not wait. */
  waitUntilReadyToSend?: ((sandbox: Sandbox) => Promise<void>) | undefined;
  /**
   * For a replay: called before each change reads the clock. Deliveries get their recorded answers, so no fault
   * applies.
   */
  replay?: { beforeChange: () => void } | undefined;
}

/** The sandboxes, and the parts that answer their requests. */
export interface Engine {
  readonly sandboxes: SandboxRegistry;
  readonly faults: Faults;
  /** The receivers inside the server, with the requests that reached them. */
  readonly receivers: SimulatedReceivers;
  readonly requestCounter: RequestCounter;
  /** Milliseconds since 1970; never goes back. */
  readonly wallClock: () => number;
  /** For dry runs and answers of requests. */
  readonly parts: EngineParts;
  /** The operations of all sandboxes; those of one are `sandbox.api`. */
  getApi(): Api;
  /** Replaces the operations of all sandboxes, which keep their records. */
  setApi(api: Api): void;
  /** Answers a request of the emulated API. Undefined if its client left. */
  handle(request: PlainRequest): Promise<CompleteAnswer | undefined>;
}

export function createEngine(options: HostParts): Engine {
  const { log, uploads, recordings, replay } = options;
  let { api } = options;
  const { fixture = "reference", seed = 1, clock = { mode: "real" }, settings = {} } = options.defaults;
  const requestCounter = new RequestCounter();
  const wallClock = makeMonotonicClock(platform().timers.now);
  const timerHandlers = combineTimerHandlers(RESOURCES);
  const faults = new Faults({
    scenarios: options.scenarios,
    api,
    readSpending: listSpendingFigures,
    overrides: options.overrides ?? true,
    delay: options.delay,
  });
  const receivers = new SimulatedReceivers({
    findWorld: (name) => sandboxes.get(name)?.world,
    getSecret: getWebhookSecret,
    listKnownSecrets,
    onLeaseEnd: (world, id) => {
      const sandbox = [...sandboxes.all()].find((candidate) => candidate.world === world);
      if (sandbox !== undefined) recordings.onLeaseEnd(sandbox, id);
    },
  });
  const outbound = receivers.forwarding.wrapSender(options.outbound);
  const deliveries = createDeliveries<Sandbox>({
    outbound,
    rules: DELIVERY_RULES,
    findFault: (sandbox, facts) => (replay ? undefined : sandbox.faults.evaluateDelivery(facts)),
    onError: (err) => log.error({ err }, "a delivery's outcome could not be recorded"),
    onAttempt: ({ journal, history, world }, attempt) => {
      const currentWorld = world.read();
      const nextStep = describeNextStep(currentWorld, attempt.queued, attempt.outcome.response_code);
      journal.add(
        toJournalEntry(attempt, { world: currentWorld, nextStep }),
        findAttemptEntry(attempt, history.newest),
      );
    },
    waitUntilReadyToSend: options.waitUntilReadyToSend,
  });
  const getServices = createServices({ outbound, uploads, deliveries });
  const sandboxes = new SandboxRegistry({
    api: () => api,
    fixtures: options.fixtures,
    defaults: { fixture, seed, clock, settings },
    wallClock,
    counter: requestCounter,
    serverKey: options.serverKey,
    onDelete: options.onDelete ?? (() => {}),
    faults: (sandbox) => faults.getSandboxFaults(sandbox),
    worldParts: (sandbox) => {
      const deliveryParts = deliveries.createWorldParts(sandbox);
      return {
        ...(replay && { beforeChange: replay.beforeChange }),
        timerHandlers: {
          ...timerHandlers,
          ...deliveryParts.timerHandlers,
          ...faults.createTimerHandlers(sandbox),
        },
        onEmit: combineListeners(RESOURCES, () => getServices(sandbox)),
        onReplace: deliveryParts.onReplace,
        onCommit: (world, commit) => {
          deliveryParts.onCommit(world, commit);
          recordings.onCommit(sandbox, commit);
          for (const key of listDeletedKeyIds(commit)) sandbox.windows.drop(key);
          for (const upload of listUploadsToRelease(commit)) uploads.forSandbox(sandbox).remove(upload);
        },
        onTimerError: (err, timer) => log.error({ err, timer }, "a timer's work failed"),
      };
    },
    followSettings: (tx, settings) => {
      for (const { followSettings } of RESOURCES) followSettings?.(tx, settings);
    },
    onDiscard: (sandbox) => uploads.discard(sandbox),
    onChange: recordings.onChange,
    blobs: uploads,
  });
  const parts: EngineParts = {
    identify,
    explainCredentials,
    requireBudget,
    requireMember,
    refuseGrowth: options.refuseGrowth,
    getServices,
    readForm: options.readForm,
    getFormSpace: (sandbox) => uploads.forSandbox(sandbox),
    durability: options.durability,
    toHostRefusal: options.toHostRefusal,
    listSandboxes: options.serverKey ? undefined : () => [...sandboxes.all()].map(({ name }) => name),
    refuseDefault: options.refuseDefault ?? false,
    upstream: options.upstream,
    log,
  };
  return {
    sandboxes,
    faults,
    receivers,
    requestCounter,
    wallClock,
    parts,
    handle(request) {
      const address = readAddress(request);
      return handleRequest(parts, request, { sandbox: sandboxes.get(address.sandbox), address });
    },
    getApi: () => api,
    setApi(newApi) {
      api = newApi;
      options.fixtures.setResources(api.resources);
      options.scenarios.setApi(api);
      for (const sandbox of sandboxes.all())
        for (const ended of sandbox.updateApi()) log.warn(describeUnusable(sandbox.name, ended));
    },
  };
}
