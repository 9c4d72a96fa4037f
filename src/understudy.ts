import manifest from "../package.json" with { type: "json" };
import "./hosts/node/platform.ts";
import { randomBytes } from "node:crypto";
import type { Server } from "node:http";
import { isIPv6 } from "node:net";
import { addMounts, createBrowserGate, lazyMount, type Mount } from "./control/application.ts";
import { LocalDirectory } from "./control/directory.ts";
import { createGuard } from "./control/guard.ts";
import { recordsRefusal } from "./control/limits.ts";
import { Login } from "./control/login.ts";
import { type ControlServer, SHARED_LIMITS } from "./control/operation.ts";
import { refuseFullDisk, sendRefusal, settleOrUnsaved } from "./control/refusal-answers.ts";
import { FixtureLibrary } from "./documents/fixture-library.ts";
import { ScenarioLibrary, scenarioFolders } from "./documents/scenario-library.ts";
import { Faults } from "./engine/faults/faults.ts";
import type { EngineParts } from "./engine/pipeline/engine-parts.ts";
import { Router } from "./engine/pipeline/router.ts";
import { SimulatedReceivers } from "./engine/receivers/simulated-receivers.ts";
import { listDeletedKeys } from "./engine/resources/api-keys/rules.ts";
import { explainCredentials, identify } from "./engine/resources/auth/credentials.ts";
import { storedTextBytes } from "./engine/resources/files/examine-file.ts";
import { uploadsToRelease } from "./engine/resources/files/rules.ts";
import { API, RESOURCES } from "./engine/resources/index.ts";
import { requireBudget, spendingFigures } from "./engine/resources/usage/spending.ts";
import {
  DELIVERY_RULES,
  knownSecrets,
  nextStep,
  secretOfWebhook,
} from "./engine/resources/webhooks/lifecycle.ts";
import { eventListeners } from "./engine/sandbox/event-listeners.ts";
import { SandboxRegistry } from "./engine/sandbox/registry.ts";
import { RequestTally } from "./engine/sandbox/request-tally.ts";
import type { Sandbox } from "./engine/sandbox/sandbox.ts";
import { forwardClock } from "./engine/state/clock.ts";
import { combinedTimers } from "./engine/state/combined-timers.ts";
import { createDeliveries } from "./engine/webhooks/dispatcher.ts";
import { journaledAttempt } from "./engine/webhooks/journal-attempt.ts";
import { Fleet } from "./fleet/fleet.ts";
import { Connections } from "./hosts/node/close-server.ts";
import { ExpressServer } from "./hosts/node/express-server.ts";
import { standardLog } from "./hosts/node/log.ts";
import { createAddressPolicy } from "./hosts/node/outbound/address-policy.ts";
import { createLocate, createOutbound } from "./hosts/node/outbound/outbound.ts";
import { WireBreaker } from "./hosts/node/perform-wire.ts";
import { readForm } from "./hosts/node/read-form.ts";
import { answerReceiverRequest } from "./hosts/node/receiver-requests.ts";
import { answerRequests, createClasses, createNodeServer } from "./hosts/node/server.ts";
import { LOCAL_UPLOAD_BYTES, UploadStore } from "./hosts/node/storage/upload-store.ts";
import type { Saver } from "./persistence/saver.ts";
import { Recordings } from "./tools/bundle/recordings.ts";
import { mcpOf, ownAddress, urlFor } from "./understudy-itself.ts";
import type { ReplaySeams, UnderstudyOptions } from "./understudy-options.ts";
import { heavyWork, servicesOf } from "./understudy-services.ts";

export type { ReplaySeams, UnderstudyOptions };

export interface Understudy {
  readonly sandboxes: SandboxRegistry;
  readonly fixtures: FixtureLibrary;
  readonly scenarios: ScenarioLibrary;
  readonly server: Server;
  /** Of a shared server: the way into its console without the token, once. */
  readonly login: Login | undefined;
  /** Binds and resolves with the base URL. */
  listen(port: number, host: string): Promise<string>;
  /** Stops accepting, lets open requests finish, and leaves nothing behind. */
  close(): Promise<void>;
}

/** The composition root: the only place that knows every part. */
export function assemble(options: UnderstudyOptions = {}): Understudy {
  const log = options.log ?? standardLog();
  // By `listen`: there is nothing to save before, and what is brought back may have something to send.
  let saver: Saver | undefined;
  const fleet = options.store && new Fleet(options.store, sendRefusal);
  let noteOpened = (_saver: Pick<Saver, "readyToSend">) => {};
  const opened = new Promise<Pick<Saver, "readyToSend">>((resolve) => {
    noteOpened = resolve;
  });
  const uploads = new UploadStore(
    options.shared ? (options.shared.limits?.upload_bytes ?? SHARED_LIMITS.upload_bytes) : LOCAL_UPLOAD_BYTES,
    (sandbox) => storedTextBytes(sandbox, sandbox.world.root),
  );
  const tally = new RequestTally();
  const wallClock = forwardClock(Date.now);
  const timerHandlers = combinedTimers(RESOURCES);
  const { operations } = API;
  const policy = createAddressPolicy({
    mode: options.shared ? "shared" : "local",
    allow: options.shared?.allowAddresses,
  });
  const { replay } = options;
  const ownReceiver = (url: URL) => {
    if (!server.listening || !receivers.answersAt(url.pathname)) return undefined;
    const { host: address, port } = ownAddress(server);
    const family = isIPv6(address) ? (6 as const) : (4 as const);
    return guard.isOwn(url, port) ? { address, family, port } : undefined;
  };
  const places = { policy, own: ownReceiver };
  const outbound = replay?.outbound ?? createOutbound(places);
  const deliveries = createDeliveries<Sandbox>({
    outbound,
    rules: DELIVERY_RULES,
    fault: ({ faults }, facts) => (replay ? undefined : faults.delivery(facts)),
    onError: (err) => log.error({ err }, "a delivery's outcome could not be recorded"),
    onAttempt: ({ journal, history, world }, attempt) => {
      const present = world.read();
      const next = nextStep(present, attempt.row, attempt.outcome.response_code);
      journal.add(journaledAttempt(attempt, { present, nextStep: next, newest: history.newest }));
    },
    readyToSend:
      isDurable(options) || fleet ? async (sandbox) => (await opened).readyToSend(sandbox) : undefined,
  });
  const parts = { outbound, uploads, deliveries, queues: heavyWork() };
  const fixtures = new FixtureLibrary({ resources: RESOURCES });
  const scenarios = new ScenarioLibrary({ api: API, folders: scenarioFolders(options.scenariosFolder) });
  const firstScenarios = scenarios.addAll(options.scenarios ?? []);
  const faults = new Faults({
    scenarios,
    api: API,
    spending: spendingFigures,
    overrides: options.overrides !== false,
    delay: options.delay,
  });
  const wires = new WireBreaker();
  const classes = createClasses();
  const server = createNodeServer(classes);
  const connections = new Connections(server);
  const recordings = new Recordings();
  const sandboxes = new SandboxRegistry({
    fixtures,
    defaults: {
      fixture: options.fixture ?? "reference",
      seed: options.seed ?? 1,
      clock: options.clock ?? { mode: "real" },
      settings: options.settings ?? {},
    },
    wallClock,
    tally,
    // Kept nowhere: a kept world has the secrets that were made of it, and a later one of the same name new ones.
    serverKey: options.shared && randomBytes(32),
    faults: (sandbox) => faults.of(sandbox),
    worldParts: (sandbox) => {
      const sender = deliveries.worldParts(sandbox);
      return {
        ...(replay && { beforeChange: replay.beforeChange }),
        timerHandlers: { ...timerHandlers, ...sender.timerHandlers, ...faults.timers(sandbox) },
        onEmit: eventListeners(RESOURCES, () => servicesOf(sandbox, parts)),
        onReplace: sender.onReplace,
        onCommit: (world, commit) => {
          sender.onCommit(world, commit);
          recordings.onCommit(sandbox, commit);
          for (const key of listDeletedKeys(commit)) sandbox.windows.forget(key);
          for (const upload of uploadsToRelease(commit)) uploads.of(sandbox).remove(upload);
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
  const limits = options.shared && { ...SHARED_LIMITS, ...options.shared.limits };
  const receivers = new SimulatedReceivers({
    world: (name) => sandboxes.get(name)?.world,
    secretOf: secretOfWebhook,
    candidates: knownSecrets,
  });
  const durability =
    fleet ??
    (isDurable(options)
      ? {
          mark: () => saver!.mark(),
          // A call that changes something may have made another sandbox.
          settled: (sandbox: Sandbox | undefined, mark: number, reads: boolean) =>
            saver!.settled(reads ? sandbox : undefined, mark),
        }
      : undefined);
  const engine: EngineParts = {
    findSandbox: (name) => sandboxes.get(name),
    router: new Router(operations),
    identify,
    explainCredentials,
    requireBudget,
    refuseGrowth: recordsRefusal(limits),
    services: (sandbox, by) => servicesOf(sandbox, parts, by),
    readForm,
    formSpace: (sandbox) => uploads.of(sandbox),
    durability: durability && { mark: durability.mark, settle: settleOrUnsaved(durability) },
    refuseFullDisk,
    log,
  };
  const control: ControlServer = {
    engine,
    sandboxes,
    resources: RESOURCES,
    operations,
    faults,
    scenarios,
    address: () => ownAddress(server),
    tally,
    receivers,
    graderNetwork: () => ({ outbound: createOutbound(places), locate: createLocate(places) }),
    version: manifest.version,
    started: performance.now(),
    durability,
    directory: fleet ?? new LocalDirectory(sandboxes),
    savingFailure: () =>
      fleet ? fleet.failure : options.persist === undefined ? undefined : (saver?.failure ?? null),
    limits,
    log,
    recordings,
    judgesAnswers: options.judgeAnswers ?? process.env["UNDERSTUDY_JUDGE_ANSWERS"] === "1",
  };
  const login = options.shared && new Login(options.shared.token);
  const inFleet = (prefix: string, handle: Mount["handle"]): Mount["handle"] =>
    fleet?.handleAtOwner(prefix, handle) ?? handle;
  // Everything of the product's own: each part adds its mount here.
  const mounts: Mount[] = [
    {
      prefix: "/_control/mcp",
      access: "token",
      handle: mcpOf(() => server, { token: options.shared?.token, version: manifest.version }),
    },
    {
      prefix: "/_control",
      access: "token",
      handle: inFleet(
        "/_control/sandboxes/",
        lazyMount(async () => (await import("./control/handle-control.ts")).createControl(control)),
      ),
    },
    {
      prefix: "/_receivers",
      access: "open",
      handle: inFleet("/_receivers/", (request, response, path) =>
        answerReceiverRequest(request, response, { path, handle: (plain) => receivers.handle(plain) }),
      ),
    },
    ...(login ? [{ prefix: "/_console/login", access: "source" as const, handle: login.handle }] : []),
    {
      prefix: "/_console",
      access: "source",
      handle: lazyMount(async () => (await import("./control/console-mount.ts")).handleConsole),
    },
  ];
  const guard = createGuard({ allowHosts: options.allowHosts ?? [], token: options.shared?.token });
  answerRequests(server, {
    engine,
    hooks: {
      findSandbox: (name, connection) => (fleet ? fleet.findSandbox(name, connection) : sandboxes.get(name)),
    },
    refuses: createBrowserGate(guard),
    application: new ExpressServer(classes, (app) => addMounts(app, { mounts, guard, log })),
    wires,
  });
  const createDefault = () => sandboxes.create({ name: "default", scenarios: firstScenarios });
  if (options.persist === undefined && options.store === undefined) createDefault();
  return {
    sandboxes,
    fixtures,
    scenarios,
    server,
    login,
    listen: async (port, host) => {
      const revived = async () => {
        const { savedJudge } = await import("./control/judge-saved.ts");
        const collections = RESOURCES.flatMap((resource) => resource.collections);
        return { sandboxes, fixtures, collections, uploads, judge: savedJudge(RESOURCES), wallClock, log };
      };
      if (options.persist !== undefined) {
        // Whoever keeps nothing need not load the engine, nor how what was kept is judged.
        const { openPersistence } = await import("./persistence/open-persistence.ts");
        saver = await openPersistence({ ...(await revived()), place: options.persist });
        noteOpened(saver);
      }
      if (fleet !== undefined) {
        await fleet.open({
          ...(await revived()),
          limit: limits?.sandboxes ?? Number.POSITIVE_INFINITY,
          ...{ createDefault, version: manifest.version, token: options.shared?.token ?? "" },
        });
        noteOpened(fleet);
      } else if (sandboxes.get("default") === undefined) createDefault();
      if (isDurable(options)) await saver?.begin();
      return new Promise((resolve, reject) => {
        server.once("error", reject);
        server.listen(port, host, () => {
          resolve(urlFor(server, host));
        });
      });
    },
    close: async () => {
      await fleet?.leave(() => connections.unanswered);
      await connections.close(() => {
        wires.close();
        for (const sandbox of sandboxes.all()) sandbox.endStreams();
      });
      try {
        await saver?.close();
        await fleet?.end();
      } finally {
        sandboxes.close();
        outbound.close();
        uploads.close();
      }
    },
  };
}

function isDurable({ persist }: UnderstudyOptions): boolean {
  return persist !== undefined && "folder" in persist && persist.durable === true;
}
