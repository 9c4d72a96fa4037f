import { findNearest } from "../engine/contract/text.ts";
import { retainSources } from "../hosts/fetch/await-answer.ts";
import type {
  ClientReport,
  GradeClientOptions,
  RunClient,
} from "../tools/client-test/client-report-types.ts";
import { type HeldMatch, waitForHeld } from "./held.ts";
import type { ControlHttp } from "./http.ts";
import { requireKnownOptions, requireObject, showValue, toPathPart } from "./options.ts";
import type * as Api from "./types.ts";
import type { List, SandboxState, StateRecord } from "./types.ts";

/** The origin that completes a path to a URL; the sandbox's origin replaces it. */
const PATH_ORIGIN = "http://path.invalid";

const GRADE_OPTIONS = ["only", "skip", "timeoutMs", "signal", "exportFailed", "onRun"];

/**
 * One sandbox of a running server, over its control API (interfaces.md 4). Every method rejects with a
 * `ControlError` that carries the server's problem document.
 */
export class SandboxClient {
  readonly name: string;
  /** Base URL of the emulated API in this sandbox: its origin if it has one. */
  readonly url: string;
  /** The control API's address of this sandbox. */
  readonly controlUrl: string;
  /** A valid API key of each user, by user id, as they were when the sandbox was opened. */
  readonly credentials: Api.Credentials;
  private readonly http: ControlHttp;
  private readonly path: string;

  constructor(http: ControlHttp, state: Api.SandboxState, credentials: Api.Credentials) {
    this.http = http;
    this.name = state.name;
    this.url = state.origin ?? state.base_url;
    this.path = `/_control/sandboxes/${state.name}`;
    this.controlUrl = http.url + this.path;
    this.credentials = credentials;
  }

  /**
   * Sends a request of the emulated API to this sandbox: a path, or a URL, whose origin is replaced by the sandbox's.
   * Without a server (interfaces.md 17) the engine answers in this process.
   */
  fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const given = typeof input === "object" && "url" in input ? input : undefined;
    const original = new URL(given?.url ?? (input as string | URL), PATH_ORIGIN);
    const base = new URL(this.url);
    // Stays as it is: an address of this sandbox, or one of its server that begins with /_, such as a receiver's.
    const isComplete =
      original.origin === base.origin &&
      [base.pathname, "/_"].some((one) => original.pathname.startsWith(one));
    const url = isComplete ? original.href : this.url + original.pathname + original.search;
    const target = given === undefined ? url : await moveRequest(given, url);
    return this.http.fetch(retainSources(new Request(target, init), [input, target]));
  };

  /** Creates the client of a sandbox from its state, as the server answered it, and loads its API keys. */
  static async of(http: ControlHttp, state: Api.SandboxState): Promise<SandboxClient> {
    return new SandboxClient(http, state, await loadCredentials(http, state));
  }

  readonly clock = {
    show: () => this.get<Api.ClockState>("/clock"),
    set: (change: Api.ClockChange) => this.send<Api.ClockChanged>("PUT", "/clock", change),
    freeze: (now?: string) => this.send<Api.ClockChanged>("PUT", "/clock", { mode: "frozen", now }),
    /** `"6h"`, milliseconds, or `{ to }`, `{ next: true }`; resolves when all that became due has finished. */
    advance: (by: Api.Duration | Api.AdvanceTo) =>
      this.send<Api.Advanced>("POST", "/clock/advance", typeof by === "object" ? by : { by }),
    pending: () => this.get<Api.Pending[]>("/clock/pending"),
  };

  readonly faults = {
    list: () => this.get<Api.List<Api.FaultRule>>("/faults"),
    add: (rule: Api.RuleDefinition) => this.send<Api.FaultRule>("POST", "/faults", rule),
    remove: async (id: string) => this.send<void>("DELETE", `/faults/${toPathPart(id)}`),
    clear: () => this.send<void>("DELETE", "/faults"),
    /** Explains how a request would be answered, without performing or counting it (interfaces.md 11). */
    explain: (request: Api.ExplainInput) => this.send<Api.Explanation>("POST", "/faults/explain", request),
  };

  /** Requests and deliveries that wait because of a rule with the effect `hold` (interfaces.md 20). */
  readonly held = {
    list: () => this.get<Api.List<Api.Held>>("/held"),
    /** The next held one that fits and that no earlier call has returned; waits for it, at most `within` (10s). */
    next: async (match: HeldMatch = {}, options: { within?: Api.Duration } = {}) => {
      requireKnownOptions("held.next", options, ["within"]);
      const { within = "10s" } = options;
      const follow = (signal: AbortSignal) =>
        this.http.streamEvents<Api.List<Api.Held>>(`${this.path}/held/stream`, undefined, signal);
      const { returnedIds } = this;
      const held = await waitForHeld(follow, { match, within, returnedIds, listJournal: this.journal.list });
      return { ...held, release: (options?: Api.ReleaseOptions) => this.held.release(held.id, options) };
    },
    /** Lets a held request or delivery continue, or gives it another answer. */
    release: async (id: string, options: Api.ReleaseOptions = {}) =>
      this.send<void>("POST", `/held/${toPathPart(id)}/release`, options),
  };
  private readonly returnedIds = new Set<string>();

  readonly scenarios = {
    list: () => this.get<Api.List<Api.ScenarioState>>("/scenarios"),
    activate: (...names: Api.ScenarioName[]) =>
      this.send<Api.ActiveScenarios>("PUT", "/scenarios/active", { names }),
  };

  /** Operations that the reference lacks (interfaces.md 18). */
  readonly operations = {
    list: () => this.get<Api.OwnOperations>("/operations"),
    /** Serves those of an OpenAPI document (an object, or a text in YAML or JSON) in this sandbox alone. */
    replace: (openapi: object | string, bindings?: object | string) =>
      this.send<Api.OwnOperations>("PUT", "/operations", { openapi, bindings }),
    clear: () => this.send<void>("DELETE", "/operations"),
    /** TypeScript types of them, and of their collections and events. */
    types: () => this.http.fetchText(`${this.path}/operations/types`),
    /** The API of this sandbox, with them, as an OpenAPI 3.1 document. */
    document: () => this.get<Record<string, unknown>>("/openapi.json"),
  };

  readonly journal = {
    list: async (filter: Api.JournalFilter = {}) => this.get<Api.JournalPage>(`/journal${toQuery(filter)}`),
    get: async (id: string) => this.get<Api.JournalEntry>(`/journal/${toPathPart(id)}`),
    /** Entries that are new once the stream is open; with a position (a `sequence`, or 0), all entries after it. */
    follow: (filter: Omit<Api.JournalFilter, "since" | "limit"> = {}, after?: number) =>
      this.http.streamEvents<Api.JournalEntry>(`${this.path}/journal/stream${toQuery(filter)}`, after),
    clear: () => this.send<void>("DELETE", "/journal"),
    verify: (expectation: Api.Expectation) =>
      this.send<Api.Verification>("POST", "/journal/verify", expectation),
    har: () => this.get<Api.HttpArchive>("/journal.har"),
  };

  /** The changes of the world and their causes, and how to undo them (interfaces.md 10). */
  readonly history = {
    list: async (filter: Api.HistoryFilter = {}) => this.get<Api.HistoryPage>(`/history${toQuery(filter)}`),
    get: async (id: string) => this.get<Api.HistoryDetail>(`/history/${toPathPart(id)}`),
    changes: async (id: string) => this.get<Api.RecordChanges>(`/history/${toPathPart(id)}/changes`),
    /** Entries that are new once the stream is open; with a position (a `sequence`, or 0), all entries after it. */
    follow: (after?: number) =>
      this.http.streamEvents<Api.HistoryEntry>(`${this.path}/history/stream`, after),
    /** Returns to the state before the entry, by default, or after it. */
    rewind: async (id: string, to?: "before" | "after") =>
      this.send<Api.Rewound>("POST", `/history/${toPathPart(id)}/rewind`, { to }),
    /** Creates a second sandbox that continues from the state before the entry, by default, or after it. */
    fork: async (id: string, options: { name?: string; to?: "before" | "after" } = {}) => {
      const path = `/history/${toPathPart(id)}/fork`;
      const forked = await this.send<Api.Rewound>("POST", path, options);
      return SandboxClient.of(this.http, forked);
    },
    /** Sends the entry's request again, as its caller, and compares the answers. */
    repeat: async (id: string, options: Api.RepeatOptions = {}) =>
      this.send<Api.Repeated>("POST", `/history/${toPathPart(id)}/repeat`, options),
  };

  readonly snapshots = {
    list: () => this.get<Api.List<Api.SnapshotState>>("/snapshots"),
    save: (name: string) => this.send<Api.SnapshotState>("POST", "/snapshots", { name }),
    restore: async (name: string) =>
      this.send<Api.SandboxState>("POST", `/snapshots/${toPathPart(name)}/restore`),
    export: async (name: string) => this.get<Api.SnapshotFile>(`/snapshots/${toPathPart(name)}`),
    import: async (name: string, document: Api.SnapshotFile) =>
      this.send<Api.SnapshotState>("PUT", `/snapshots/${toPathPart(name)}`, document),
    remove: async (name: string) => this.send<void>("DELETE", `/snapshots/${toPathPart(name)}`),
    /** `now` is the current state. `options.of` names the sandbox that has the snapshot `after`, by default this one. */
    diff: async (before: string, after = "now", options: { of?: string } = {}) =>
      this.get<Api.Difference>(
        `/snapshots/${toPathPart(before)}/diff/${toPathPart(after)}${toQuery(options)}`,
      ),
  };

  readonly events = {
    trigger: async (event: Api.EventName, options: Api.TriggerOptions = {}) =>
      this.send<Api.Triggered>("POST", "/events", { event, ...requireObject(options) }),
  };

  readonly deliveries = {
    list: async (filter: Api.DeliveryFilter = {}) =>
      this.get<Api.List<Api.ListedDelivery>>(`/deliveries${toQuery(filter)}`),
    /** With each of its attempts: request and response. */
    get: async (id: string) => this.get<Api.DeliveryDetail>(`/deliveries/${toPathPart(id)}`),
    /** Makes one attempt for each of these deliveries now; resolves when all have ended. */
    redeliver: (options: Api.RedeliverOptions) =>
      this.send<Api.List<Api.ListedDelivery>>("POST", "/deliveries/redeliver", options),
  };

  readonly receivers = {
    list: () => this.get<Api.List<Api.Receiver>>("/receivers"),
    add: (options: Api.ReceiverOptions = {}) => this.send<Api.Receiver>("POST", "/receivers", options),
    requests: async (id: string) =>
      this.get<Api.List<Api.ReceivedRequest>>(`/receivers/${toPathPart(id)}/requests`),
    remove: async (id: string) => this.send<void>("DELETE", `/receivers/${toPathPart(id)}`),
    /** The deliveries of a receiver with the answer `forward`; the first event says that the stream is ready (interfaces.md 11). */
    follow: (id: string, signal?: AbortSignal) =>
      this.http.streamEvents<Api.ForwardedEvent>(
        `${this.path}/receivers/${toPathPart(id)}/stream`,
        undefined,
        signal,
      ),
    answer: async (id: string, delivery: string, answer: Api.ForwardedAnswer) =>
      this.send<void>("POST", `/receivers/${toPathPart(id)}/forwarded/${toPathPart(delivery)}`, answer),
  };

  /** Records of a collection, such as `state("threads")`, or one of your own; changes emit the events of a real change. */
  state<C extends Api.CollectionName>(collection: C): StateCalls<Api.StateRecord<C>>;
  state<C extends keyof Api.OwnRecords>(collection: C): StateCalls<Api.OwnRecords[C]>;
  state<R extends object>(collection: OwnCollectionOf<R>): StateCalls<R>;
  state<Shown extends object>(collection: OwnCollectionOf<Shown> | string): StateCalls<Shown> {
    const name = typeof collection === "object" ? collection?.name : collection;
    const path = `/state/${toPathPart(name)}`;
    const toRecordPath = (id: string) => `${path}/${toPathPart(id)}`;
    return {
      list: async (filter: Partial<Shown> & Api.PageOptions = {}) =>
        this.get<Api.List<Shown>>(path + toQuery(filter)),
      get: async (id: string) => this.get<Shown>(toRecordPath(id)),
      create: async (record: Partial<Shown> = {}, options: Api.StateOptions = {}) =>
        this.send<Shown>("POST", path + toQuery(options), record),
      update: async (id: string, fields: Partial<Shown>, options: Api.StateOptions = {}) =>
        this.send<Shown>("PATCH", toRecordPath(id) + toQuery(options), fields),
      remove: async (id: string, options: Api.StateOptions = {}) =>
        this.send<void>("DELETE", toRecordPath(id) + toQuery(options)),
    };
  }

  /**
   * Runs a client against this sandbox under failures, and reads its behaviour from the timeline (interfaces.md 21). `run`
   * runs the client once, and gets a signal that aborts when the time is up. The sandbox is left as it was.
   */
  gradeClient = async (run: RunClient, options: GradeClientOptions = {}): Promise<ClientReport> => {
    if (typeof run !== "function")
      throw new TypeError(`gradeClient takes a function that runs the client, not ${showValue(run)}`);
    requireKnownOptions("gradeClient", options, GRADE_OPTIONS);
    const { gradeClient } = await import("../tools/client-test/grade-client.ts");
    return gradeClient(this, run, options);
  };

  info = () => this.get<Api.SandboxState>("");
  reset = (options: Api.ResetOptions = {}) => this.send<Api.SandboxState>("POST", "/reset", options);
  configure = (settings: Api.SettingsChange) => this.send<Api.SandboxState>("PATCH", "", { settings });
  outbox = () => this.get<Api.List<Api.Email>>("/outbox");
  coverage = () => this.get<Api.CoverageMatrix>("/coverage");
  /** A document for `understudy replay`: the fixture, the requests and calls since the start, and their answers. */
  bundle = () => this.send<Api.Bundle>("POST", "/bundle");
  /** The bytes of a file with everything of the sandbox (interfaces.md 19), for `understudy open` and `openFile`. */
  export = () => this.http.fetchBytes(`${this.path}/export`);
  delete = () => this.send<void>("DELETE", "");

  private get<T>(path: string): Promise<T> {
    return this.http.call<T>("GET", this.path + path);
  }

  private send<T>(method: string, path: string, body?: unknown): Promise<T> {
    return this.http.call<T>(method, this.path + path, body);
  }
}

function toQuery(values: object): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(requireObject(values))) {
    if (value !== undefined) query.set(name, value instanceof Date ? value.toISOString() : String(value));
  }
  return query.size === 0 ? "" : `?${query}`;
}

/** Returns one key per user: the first that is neither revoked nor expired. Reading the key of a user without one throws. */
async function loadCredentials(http: ControlHttp, { name, clock }: SandboxState): Promise<Api.Credentials> {
  const path = `/_control/sandboxes/${name}/state/api_keys`;
  const { items } = await http.call<List<StateRecord<"api_keys">>>("GET", path);
  return toCredentials(
    items.filter(({ revoked, expires_at }) => !revoked && (expires_at === null || expires_at > clock.now)),
  );
}

/**
 * The same request to another URL. Its parts are copied, since `new Request(url, request)` may fail if the request's class
 * is that of a library or a test environment. The body is sent as bytes, since browsers stream it over HTTP/2 only.
 */
async function moveRequest(request: Request, url: string): Promise<Request> {
  const { method, headers, redirect, credentials, signal } = request;
  const bytes = await request.arrayBuffer();
  return new Request(url, {
    method,
    headers: [...headers],
    redirect,
    credentials,
    body: bytes.byteLength === 0 ? null : bytes,
    signal: signal instanceof AbortSignal ? signal : null,
  });
}

/** @param validKeys neither revoked nor expired */
export function toCredentials(validKeys: readonly { user_id: string; key: string }[]): Api.Credentials {
  const credentials: Record<string, string> = {};
  for (const { user_id, key } of validKeys) credentials[user_id] ??= key;
  return new Proxy(credentials as Api.Credentials, {
    get(keys, user) {
      // Only a missing user's id throws: code that prints, compares or awaits the object reads properties such as `then`.
      if (typeof user === "string" && /^(usr|uid)_/.test(user) && !Object.hasOwn(keys, user))
        throw new Error(describeMissingKey(user, Object.keys(keys)));
      return Reflect.get(keys, user);
    },
  });
}

/** @throws Error if the user has none */
export function requireKey(credentials: Api.Credentials, user: string): string {
  const keys: Record<string, string> = { ...credentials };
  if (!Object.hasOwn(keys, user)) throw new Error(describeMissingKey(user, Object.keys(keys)));
  return keys[user]!;
}

function describeMissingKey(user: string, users: readonly string[]): string {
  const near = findNearest(user, users);
  const hint = near === undefined ? "" : ` Did you mean ${JSON.stringify(near)}?`;
  return `${JSON.stringify(user)} has no valid API key in this sandbox.${hint} These users have one: ${users.join(", ") || "none"}.`;
}

/** A collection that `defineCollection` declared. */
interface OwnCollectionOf<R> {
  readonly name: string;
  readonly record: { readonly "~value": R };
}

/** The records of a collection, as state calls show them. */
interface StateCalls<R> {
  list(filter?: Partial<R> & Api.PageOptions): Promise<Api.List<R>>;
  get(id: string): Promise<R>;
  create(record?: Partial<R>, options?: Api.StateOptions): Promise<R>;
  update(id: string, fields: Partial<R>, options?: Api.StateOptions): Promise<R>;
  remove(id: string, options?: Api.StateOptions): Promise<void>;
}
