import "./hosts/node/platform.ts";
import { randomBytes } from "node:crypto";
import manifest from "../package.json" with { type: "json" };
import { createInProcessHandler } from "./control/answer-in-process.ts";
import { createApplication, createBrowserGate } from "./control/application.ts";
import { LocalDirectory } from "./control/directory.ts";
import { createGuard } from "./control/guard.ts";
import { createRecordLimit } from "./control/limits.ts";
import { Login } from "./control/login.ts";
import { type ControlServer, SHARED_LIMITS } from "./control/operation.ts";
import { toHostRefusal } from "./control/problem.ts";
import { sendStoreRefusal, toEngineDurability } from "./control/store-refusals.ts";
import type { Understudy, UnderstudyOptions } from "./control/understudy-options.ts";
import { FixtureLibrary } from "./documents/fixture-library.ts";
import { listScenarioFolders, ScenarioLibrary } from "./documents/scenario-library.ts";
import { type DocumentProblem, formatProblem } from "./engine/documents/document-error.ts";
import { createEngine } from "./engine/index.ts";
import { computeOnce } from "./engine/maps.ts";
import { readApi } from "./engine/own/join.ts";
import { Fleet } from "./fleet/fleet.ts";
import { createFetch, createSendInProcess } from "./hosts/fetch/create-fetch.ts";
import { createInProcessOutbound } from "./hosts/fetch/in-process-outbound.ts";
import { answerRequests } from "./hosts/node/answer-requests.ts";
import { createStandardLog } from "./hosts/node/log.ts";
import { NodeNetwork } from "./hosts/node/node-network.ts";
import { createUpstream } from "./hosts/node/outbound/upstream.ts";
import { readForm } from "./hosts/node/read-form.ts";
import { UploadStore } from "./hosts/node/storage/upload-store.ts";
import { LocalPersistence } from "./persistence/local-persistence.ts";
import { Recordings } from "./tools/bundle/recordings.ts";

/** The composition root of Node: with `browser.ts`, the only place that knows every part. */
export function assemble(options: UnderstudyOptions = {}): Understudy {
  const { shared, replay, log = createStandardLog() } = options;
  const { version } = manifest;
  const limits = shared && { ...SHARED_LIMITS, ...shared.limits };
  const guard = createGuard({ ...options, token: shared?.token });

  const policy = { mode: shared ? "shared" : "local", allow: shared?.allowAddresses } as const;
  const network = new NodeNetwork({ ...options, policy, isOwnHost: guard.isOwn });
  const { server, origins, ownAddress, sites, outbound: sender } = network;
  const outbound =
    replay?.outbound ?? createInProcessOutbound((request) => ownFetch(request), options.onDelivery, sender);
  const uploads = new UploadStore(limits?.upload_bytes);

  const fleet = options.store && new Fleet(options.store, sendStoreRefusal);
  const persistence = options.persist && new LocalPersistence(options.persist);
  /** The store that answers and deliveries wait for. */
  const durable = fleet ?? (persistence?.isDurable ? persistence : undefined);

  const warn = (problem: DocumentProblem) => log.warn(formatProblem(problem));
  const api = readApi(options.operations ?? [], log);
  const fixtures = new FixtureLibrary({ resources: api.resources, warn });
  const scenarios = new ScenarioLibrary({ api, warn, folders: listScenarioFolders(options.scenariosFolder) });
  const firstScenarios = scenarios.addAll(options.scenarios ?? []);
  const commonParts = { fixtures, scenarios, uploads, recordings: new Recordings(), log };
  const engine = createEngine({
    ...commonParts,
    api,
    outbound,
    replay,
    readForm,
    toHostRefusal,
    defaults: options,
    overrides: options.overrides,
    delay: options.delay,
    // Never stored: a saved world contains the secrets that it issued, and a new world must not issue the same ones again.
    serverKey: shared && randomBytes(32),
    waitUntilReadyToSend: durable && ((sandbox) => durable.waitUntilReadyToSend(sandbox)),
    durability: durable && toEngineDurability(durable),
    refuseGrowth: createRecordLimit(limits),
    refuseDefault: options.refuseDefault,
    upstream: options.upstream && createUpstream(options.upstream, policy.mode),
    onDelete: ({ name }) => void origins.closeAfter(name, async () => persistence?.waitUntilDeleted()),
  });
  const { sandboxes, getApi, wallClock } = engine;
  const control: ControlServer = {
    ...engine,
    ...commonParts,
    limits,
    version,
    sites,
    sendToSelf: (...call) => (server.listening ? network.sendToSelf : createSendInProcess(ownFetch))(...call),
    createGraderNetwork: () => network.createGraderNetwork(),
    startedAt: performance.now(),
    durability: durable,
    directory: fleet ?? new LocalDirectory(sandboxes),
    getSavingFailure: () => (fleet ?? persistence)?.failure,
  };
  const ownFetch = createFetch({
    api: engine.handle,
    control: createInProcessHandler(control),
    receiver: (request) => engine.receivers.handle(request),
  });
  const login = shared && new Login(shared.token);
  const application = createApplication(network.messageClasses, {
    control,
    login,
    guard,
    origins,
    mcp:
      options.mcp && (() => options.mcp!({ url: () => ownAddress.selfUrl, token: shared?.token, version })),
    atOwner: (prefix, handle) => fleet?.handleAtOwner(prefix, handle) ?? handle,
  });
  answerRequests(network, {
    engine: engine.parts,
    findSandbox: fleet?.findSandbox ?? ((name) => sandboxes.get(name)),
    refuseForeignHost: createBrowserGate(guard),
    application,
  });

  const createDefault = () => sandboxes.create({ name: "default", scenarios: firstScenarios });
  if (fleet === undefined && persistence === undefined) createDefault();
  const openStored = async () => {
    const { createSavedValidator } = await import("./control/validate-saved.ts");
    const validator = createSavedValidator(getApi, log);
    const parts = { sandboxes, fixtures, getApi, uploads, validator, wallClock, log };
    await persistence?.open(parts);
    await fleet?.open({ ...parts, limit: limits?.sandboxes, token: shared?.token, createDefault, version });
    if (sandboxes.get("default") === undefined && fleet === undefined) createDefault();
    await persistence?.saveInitialSandboxes();
  };
  return {
    sandboxes,
    fixtures,
    scenarios,
    server,
    login,
    fetch: ownFetch,
    setOperations: (sources) => engine.setApi(readApi(sources, log)),
    async listen(port, host) {
      if (fleet !== undefined || persistence !== undefined) await openStored();
      return ownAddress.listen(port, host);
    },
    close: computeOnce(async () => {
      await fleet?.leave(() => network.connections.unansweredCount);
      await network.close(() => sandboxes.endStreams());
      try {
        await persistence?.close();
        await fleet?.end();
      } finally {
        sandboxes.close();
        sender.close();
        uploads.close();
      }
    }),
  };
}
