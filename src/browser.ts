import "./hosts/fetch/web-platform.ts";
import manifest from "../package.json" with { type: "json" };
import { createInProcessHandler } from "./control/answer-in-process.ts";
import { LocalDirectory } from "./control/directory.ts";
import { readLibraryOptions } from "./control/library-options.ts";
import type { ControlServer } from "./control/operation.ts";
import { toHostRefusal } from "./control/problem.ts";
import { FixtureLibrary } from "./documents/fixture-library.ts";
import { ScenarioLibrary } from "./documents/scenario-library.ts";
import { createEngine } from "./engine/index.ts";
import { computeOnce } from "./engine/maps.ts";
import { NoPortError } from "./engine/pipeline/plain-http.ts";
import { NotAvailableError } from "./engine/platform.ts";
import { listValidKeys } from "./engine/resources/api-keys/rules.ts";
import type { ApiKey } from "./engine/resources/api-keys/schema.ts";
import { API } from "./engine/resources/index.ts";
import type { OnDelivery } from "./hosts/fetch/answer-deliveries.ts";
import { createFetch, createSendInProcess, type SandboxFetch } from "./hosts/fetch/create-fetch.ts";
import { createFetchOutbound } from "./hosts/fetch/fetch-outbound.ts";
import { createInProcessOutbound } from "./hosts/fetch/in-process-outbound.ts";
import { MemoryUploads } from "./hosts/fetch/memory-uploads.ts";
import { readFormData } from "./hosts/fetch/read-form-data.ts";
import type { Saver, SavingFailure } from "./persistence/saver.ts";
import { Recordings } from "./tools/bundle/recordings.ts";

/** The options that the library's caller gives. */
interface BrowserEngineOptions {
  fixture?: string | object;
  seed?: number;
  clock?: object;
  settings?: object;
  scenarios?: readonly string[];
  /** The name of a world that the browser stores; the other options apply only if there is none. */
  persist?: string;
  /** Gets the deliveries to all receivers outside the page, in place of the network. */
  onDelivery?: OnDelivery;
}

export interface BrowserEngine {
  fetch: SandboxFetch;
  /** The valid API keys of the sandbox `default`, read without the control API; absent in a tab that forwards to another. */
  listValidKeys?(): ApiKey[];
  /** Saves the last changes of a world that is stored. */
  save(): Promise<unknown>;
  close(): Promise<void>;
}

const MAX_UPLOAD_BYTES_PER_SANDBOX = 256 * 1024 ** 2;

/**
 * The composition root for browsers: the engine and its control API, without a server.
 * @throws Problem, DocumentError, PersistenceError
 */
export async function assembleBrowserEngine(options: BrowserEngineOptions = {}): Promise<BrowserEngine> {
  // For the other hosts, `persist` is a folder or file.
  const { persist, ...start } = options;
  const { clock, settings } = readLibraryOptions(start);
  let saver: Saver | undefined;
  let openingFailure: SavingFailure | undefined;
  const log = console;
  const ownFetch: SandboxFetch = (request, base) => sandboxFetch(request, base);
  const network = createFetchOutbound((request) => globalThis.fetch(request));
  const { location } = globalThis as { location?: { origin: string } };
  const scenarios = new ScenarioLibrary({ api: API, cwd: "/" });
  const uploads = new MemoryUploads(MAX_UPLOAD_BYTES_PER_SANDBOX);
  const fixtures = new FixtureLibrary({ resources: API.resources, cwd: "/" });
  const commonParts = { fixtures, scenarios, uploads, recordings: new Recordings(), log };
  const engine = createEngine({
    ...commonParts,
    api: API,
    outbound: createInProcessOutbound(ownFetch, options.onDelivery, network, location?.origin),
    readForm: readFormData,
    toHostRefusal,
    defaults: { fixture: options.fixture, seed: options.seed, clock, settings },
  });
  const { sandboxes } = engine;
  const control: ControlServer = {
    ...engine,
    ...commonParts,
    version: manifest.version,
    limits: undefined,
    sites: { origins: NO_ORIGINS } as never,
    sendToSelf: createSendInProcess(ownFetch),
    createGraderNetwork() {
      throw new NotAvailableError("the receiver test needs a server; start one for it");
    },
    startedAt: performance.now(),
    directory: new LocalDirectory(sandboxes),
    getSavingFailure: () => (persist === undefined ? undefined : (saver?.failure ?? openingFailure ?? null)),
  };
  const sandboxFetch = createFetch({
    api: engine.handle,
    control: createInProcessHandler(control),
    receiver: (request) => engine.receivers.handle(request),
  });
  if (persist !== undefined) {
    const { openIndexedDb } = await import("./persistence/indexeddb-store.ts");
    const { createSavedValidator } = await import("./control/validate-saved.ts");
    const { getApi, wallClock } = engine;
    const validator = createSavedValidator(getApi, log);
    const parts = { sandboxes, fixtures, getApi, uploads, validator, wallClock, log };
    const saverOrFailure = await openIndexedDb(persist, parts);
    if ("refusal" in saverOrFailure) openingFailure = saverOrFailure;
    else saver = saverOrFailure;
  }
  if (sandboxes.get("default") === undefined)
    sandboxes.create({ name: "default", scenarios: scenarios.addAll(options.scenarios ?? []) });
  void saver?.saveAll();
  return {
    // A page can be left at any time, so a change is stored before it is answered.
    async fetch(request) {
      try {
        return await sandboxFetch(request);
      } finally {
        if (request.method !== "GET") await saver?.saveAll();
      }
    },
    listValidKeys: () => listValidKeys(sandboxes.get("default")!.world.read()),
    save: async () => saver?.saveAll(),
    close: computeOnce(async () => {
      sandboxes.endStreams();
      await saver?.close();
      sandboxes.close();
    }),
  };
}

/** No sandbox has an origin of its own, since a page cannot listen on a port. */
const NO_ORIGINS = {
  size: 0,
  open: async () => {
    throw new NoPortError("a page has no ports");
  },
  close: () => {},
};
