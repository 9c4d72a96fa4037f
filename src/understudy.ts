import "./hosts/node/platform.ts";
import { randomBytes } from "node:crypto";
import manifest from "../package.json" with { type: "json" };
import { answerInProcess } from "./control/answer-in-process.ts";
import { addMounts, createBrowserGate, createMounts } from "./control/application.ts";
import { LocalDirectory } from "./control/directory.ts";
import { createGuard } from "./control/guard.ts";
import { recordsRefusal } from "./control/limits.ts";
import { Login } from "./control/login.ts";
import { type ControlServer, SHARED_LIMITS } from "./control/operation.ts";
import { refuseFullDisk, sendRefusal, settleOrUnsaved } from "./control/send-answer.ts";
import type { ReplaySeams, Understudy, UnderstudyOptions } from "./control/understudy-options.ts";
import { FixtureLibrary } from "./documents/fixture-library.ts";
import { ScenarioLibrary, scenarioFolders } from "./documents/scenario-library.ts";
import type { Api } from "./engine/contract/api.ts";
import { type DocumentProblem, formatProblem } from "./engine/documents/document-error.ts";
import { createEngine } from "./engine/index.ts";
import { createOwnApi, type OwnSource } from "./engine/own/join.ts";
import { countTextBytes } from "./engine/resources/files/examine-file.ts";
import { API } from "./engine/resources/index.ts";
import { Fleet } from "./fleet/fleet.ts";
import { answerDeliveries } from "./hosts/fetch/answer-deliveries.ts";
import { createFetch, IN_PROCESS_ORIGIN } from "./hosts/fetch/create-fetch.ts";
import { createFetchOutbound } from "./hosts/fetch/fetch-outbound.ts";
import { requestInProcess } from "./hosts/fetch/request-in-process.ts";
import { Connections } from "./hosts/node/close-server.ts";
import { ExpressServer } from "./hosts/node/express-server.ts";
import { type Log, standardLog } from "./hosts/node/log.ts";
import { createAddressPolicy } from "./hosts/node/outbound/address-policy.ts";
import { deliverInProcess } from "./hosts/node/outbound/in-process.ts";
import { createOutbound, createTargetResolver } from "./hosts/node/outbound/outbound.ts";
import { createUpstream } from "./hosts/node/outbound/upstream.ts";
import { OwnAddress } from "./hosts/node/own-address.ts";
import { WireBreaker } from "./hosts/node/perform-wire.ts";
import { readForm } from "./hosts/node/read-form.ts";
import { createRequestOwn } from "./hosts/node/request-own.ts";
import { SandboxOrigins } from "./hosts/node/sandbox-origins.ts";
import { answerRequests, createClasses, createNodeServer } from "./hosts/node/server.ts";
import { Sites } from "./hosts/node/sites.ts";
import { LOCAL_UPLOAD_BYTES, UploadStore } from "./hosts/node/storage/upload-store.ts";
import { LocalPersistence } from "./persistence/local-persistence.ts";
import { Recordings } from "./tools/bundle/recordings.ts";

export type { ReplaySeams, Understudy, UnderstudyOptions };

/** The reference's operations and own ones. */
function readOperations(sources: readonly OwnSource[] = [], log: Log): Api {
  if (sources.length === 0) return API;
  const { api, warnings } = createOwnApi(sources);
  for (const warning of warnings) log.warn(warning);
  return api;
}

/** The composition root: the only place that knows every part. */
export function assemble(options: UnderstudyOptions = {}): Understudy {
  const { shared, replay, log = standardLog() } = options;
  const { version } = manifest;
  const limits = shared && { ...SHARED_LIMITS, ...shared.limits };
  const { allowHosts = [], publicUrl, trustProxy } = options;
  const publicHost = publicUrl === undefined ? undefined : new URL(publicUrl).host;
  const guard = createGuard({ allowHosts, publicHost, token: shared?.token });

  const classes = createClasses();
  const server = createNodeServer(classes, options.certificate);
  const connections = new Connections(server);
  const origins = new SandboxOrigins(server, connections);
  const own = new OwnAddress(server);
  const sites = new Sites({ own, origins }, { publicUrl, trustProxy });
  const network = {
    policy: createAddressPolicy({ mode: shared ? "shared" : "local", allow: shared?.allowAddresses }),
    own: own.findReceiver(origins, guard.isOwn),
  };
  const within = createFetchOutbound((request) => fetch(request));
  const caller = options.onDelivery && createFetchOutbound(answerDeliveries(options.onDelivery));
  const findReceiver = (url: string) => (url.startsWith(`${IN_PROCESS_ORIGIN}/`) ? within : caller);
  const outbound = replay?.outbound ?? deliverInProcess(findReceiver, createOutbound(network));
  const uploads = new UploadStore(limits?.upload_bytes ?? LOCAL_UPLOAD_BYTES, (sandbox) =>
    countTextBytes(sandbox, sandbox.world.root),
  );

  const fleet = options.store && new Fleet(options.store, sendRefusal);
  const persistence = options.persist && new LocalPersistence(options.persist);
  /** Answers and deliveries wait for it. */
  const durable = fleet ?? (persistence?.isDurable ? persistence : undefined);

  const warn = (problem: DocumentProblem) => log.warn(formatProblem(problem));
  const api = readOperations(options.operations, log);
  const fixtures = new FixtureLibrary({ resources: api.resources, warn });
  const scenarios = new ScenarioLibrary({
    api,
    warn,
    folders: scenarioFolders(options.scenariosFolder),
  });
  const firstScenarios = scenarios.addAll(options.scenarios ?? []);
  const recordings = new Recordings();
  const engine = createEngine({
    api,
    ...{ fixtures, scenarios, outbound, uploads, recordings, replay, readForm, refuseFullDisk, log },
    defaults: {
      fixture: options.fixture ?? "reference",
      seed: options.seed ?? 1,
      clock: options.clock ?? { mode: "real" },
      settings: options.settings ?? {},
    },
    overrides: options.overrides !== false,
    delay: options.delay,
    // Never stored: a stored world contains its own secrets, and a later world of the same name gets new ones.
    serverKey: shared && randomBytes(32),
    readyToSend: durable && ((sandbox) => durable.readyToSend(sandbox)),
    durability: durable && { mark: durable.mark, settle: settleOrUnsaved(durable) },
    refuseGrowth: recordsRefusal(limits),
    refuseDefault: options.refuseDefault === true,
    upstream: options.upstream && createUpstream(options.upstream, network.policy.mode),
    onDelete: ({ name }) => origins.close(name),
  });
  const { sandboxes, wallClock } = engine;

  const requestOwn = createRequestOwn(() => own.within);
  const control: ControlServer = {
    ...{ sandboxes, scenarios, recordings, limits, version, log, sites, fixtures, uploads, wallClock },
    ...{ faults: engine.faults, receivers: engine.receivers, tally: engine.tally, engine: engine.parts },
    get api() {
      return engine.api;
    },
    request: (...call) => (server.listening ? requestOwn : requestInProcess(fetch))(...call),
    graderNetwork: () => ({ outbound: createOutbound(network), locate: createTargetResolver(network) }),
    started: performance.now(),
    durability: durable,
    directory: fleet ?? new LocalDirectory(sandboxes),
    savingFailure: () => (fleet ?? persistence)?.failure,
    validatesAnswers: options.validateAnswers ?? process.env["UNDERSTUDY_VALIDATE_ANSWERS"] === "1",
  };
  const fetch = createFetch({
    api: engine.handle,
    control: answerInProcess(control),
    receiver: (request) => engine.receivers.handle(request),
  });
  const login = shared && new Login(shared.token);
  const toItself = { url: () => own.withinUrl, token: shared?.token, version };
  const mounts = createMounts({
    ...{ control, login, mcp: options.mcp && (() => options.mcp!(toItself)) },
    atOwner: (prefix, handle) => fleet?.handleAtOwner(prefix, handle) ?? handle,
  });
  const wires = new WireBreaker();
  answerRequests(server, {
    engine: engine.parts,
    findSandbox: fleet?.findSandbox ?? ((name) => sandboxes.get(name)),
    refuses: createBrowserGate(guard),
    application: new ExpressServer(classes, (app) => addMounts(app, { mounts, guard, origins, log })),
    ...{ wires, sites },
  });

  const createDefault = () => sandboxes.create({ name: "default", scenarios: firstScenarios });
  if (fleet === undefined && persistence === undefined) createDefault();
  const openStored = async () => {
    const { createSavedValidator } = await import("./control/validate-saved.ts");
    const api = () => engine.api;
    const validator = createSavedValidator(api);
    const parts = { sandboxes, fixtures, api, uploads, validator, wallClock, log };
    await persistence?.open(parts);
    const limit = limits?.sandboxes ?? Number.POSITIVE_INFINITY;
    await fleet?.open({ ...parts, limit, createDefault, version, token: shared?.token ?? "" });
    if (sandboxes.get("default") === undefined && fleet === undefined) createDefault();
    await persistence?.begin();
  };
  return {
    ...{ sandboxes, fixtures, scenarios, server, login, fetch },
    setOperations(sources) {
      const next = readOperations(sources, log);
      fixtures.setResources(next.resources);
      scenarios.setApi(next);
      engine.setApi(next);
    },
    async listen(port, host) {
      if (fleet !== undefined || persistence !== undefined) await openStored();
      return own.listen(port, host);
    },
    async close() {
      await fleet?.leave(() => connections.unanswered);
      await connections.close(() => {
        wires.close();
        for (const sandbox of sandboxes.all()) sandbox.endStreams();
      }, [origins.closeAll(), own.close()]);
      try {
        await persistence?.close();
        await fleet?.end();
      } finally {
        sandboxes.close();
        outbound.close();
        uploads.close();
      }
    },
  };
}
