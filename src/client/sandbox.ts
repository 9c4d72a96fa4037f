import type { Settings } from "../contract/settings.ts";
import type { ControlHttp } from "./http.ts";
import type {
  Bundle,
  ClockChange,
  ClockState,
  CoverageMatrix,
  Difference,
  FaultRule,
  FixtureInput,
  JournalEntry,
  JournalFilter,
  List,
  Pending,
  RanTimer,
  ReceivedRequest,
  Receiver,
  ReceiverAnswer,
  SandboxState,
  ScenarioState,
  SnapshotState,
  Verification,
} from "./types.ts";

type JsonRecord = Record<string, unknown>;

export interface AdvanceTo {
  by?: string | number;
  to?: string;
  next?: true;
}

/**
 * One sandbox of a running server, over its control API (interfaces 4). Every method rejects with a
 * `ControlError` that carries the server's problem document.
 */
export class SandboxClient {
  readonly name: string;
  /** Base URL of the emulated API in this sandbox. */
  readonly url: string;
  /** The control API's address of this sandbox. */
  readonly controlUrl: string;
  /** A usable API key of each user, by user id, as they were when the sandbox was opened. */
  readonly credentials: Readonly<Record<string, string>>;
  private readonly http: ControlHttp;
  private readonly path: string;

  constructor(http: ControlHttp, state: SandboxState, credentials: Record<string, string>) {
    this.http = http;
    this.name = state.name;
    this.url = state.base_url;
    this.path = `/_control/sandboxes/${state.name}`;
    this.controlUrl = http.url + this.path;
    this.credentials = credentials;
  }

  readonly clock = {
    show: () => this.get<ClockState>("/clock"),
    set: (change: ClockChange) => this.send<ClockState>("PUT", "/clock", change),
    freeze: (now?: string) => this.send<ClockState>("PUT", "/clock", { mode: "frozen", now }),
    /** `"6h"`, milliseconds, or `{ to }`, `{ next: true }`; resolves when all that became due has finished. */
    advance: (by: string | number | AdvanceTo) =>
      this.send<{ now: string; ran: RanTimer[] }>(
        "POST",
        "/clock/advance",
        typeof by === "object" ? by : { by },
      ),
    pending: () => this.get<Pending[]>("/clock/pending"),
  };

  readonly faults = {
    list: () => this.get<List<FaultRule>>("/faults"),
    add: (rule: Partial<FaultRule>) => this.send<FaultRule>("POST", "/faults", rule),
    remove: (id: string) => this.send<void>("DELETE", `/faults/${encodeURIComponent(id)}`),
    clear: () => this.send<void>("DELETE", "/faults"),
  };

  readonly scenarios = {
    list: () => this.get<List<ScenarioState>>("/scenarios"),
    activate: (...names: string[]) => this.send<List<ScenarioState>>("PUT", "/scenarios/active", { names }),
  };

  readonly journal = {
    list: (filter: JournalFilter = {}) =>
      this.get<{ entries: JournalEntry[]; total: number; dropped: number }>(`/journal${queryOf(filter)}`),
    get: (id: string) => this.get<JournalEntry>(`/journal/${encodeURIComponent(id)}`),
    clear: () => this.send<void>("DELETE", "/journal"),
    verify: (expectation: { match: JsonRecord; count: number | { min?: number; max?: number } }) =>
      this.send<Verification>("POST", "/journal/verify", expectation),
    har: () => this.get<JsonRecord>("/journal.har"),
  };

  readonly snapshots = {
    list: () => this.get<List<SnapshotState>>("/snapshots"),
    save: (name: string) => this.send<SnapshotState>("POST", "/snapshots", { name }),
    restore: (name: string) => this.send<SandboxState>("POST", `/snapshots/${name}/restore`),
    export: (name: string) => this.get<JsonRecord>(`/snapshots/${name}`),
    import: (name: string, document: JsonRecord) =>
      this.send<SnapshotState>("PUT", `/snapshots/${name}`, document),
    remove: (name: string) => this.send<void>("DELETE", `/snapshots/${name}`),
    /** `now` names the present. */
    diff: (before: string, after = "now") => this.get<Difference>(`/snapshots/${before}/diff/${after}`),
  };

  readonly events = {
    trigger: (event: string, options: { data?: JsonRecord; for?: string; organization?: string } = {}) =>
      this.send<{ deliveries: JsonRecord[] }>("POST", "/events", { event, ...options }),
  };

  readonly receivers = {
    list: () => this.get<List<Receiver>>("/receivers"),
    add: (options: { answers?: ReceiverAnswer[]; secret?: string } = {}) =>
      this.send<Receiver>("POST", "/receivers", options),
    requests: (id: string) => this.get<{ items: ReceivedRequest[] }>(`/receivers/${id}/requests`),
    remove: (id: string) => this.send<void>("DELETE", `/receivers/${id}`),
  };

  /** Records of a collection, such as `state("threads")`; changes emit the events of a real change. */
  state(collection: string) {
    const path = `/state/${collection}`;
    return {
      list: (filter: JsonRecord = {}) => this.get<List<JsonRecord>>(path + queryOf(filter)),
      get: (id: string) => this.get<JsonRecord>(`${path}/${encodeURIComponent(id)}`),
      create: (record: JsonRecord = {}, options: StateOptions = {}) =>
        this.send<JsonRecord>("POST", path + queryOf(options), record),
      update: (id: string, fields: JsonRecord, options: StateOptions = {}) =>
        this.send<JsonRecord>("PATCH", `${path}/${encodeURIComponent(id)}${queryOf(options)}`, fields),
      remove: (id: string, options: StateOptions = {}) =>
        this.send<void>("DELETE", `${path}/${encodeURIComponent(id)}${queryOf(options)}`),
    };
  }

  info = () => this.get<SandboxState>("");
  reset = (options: { fixture?: FixtureInput; seed?: number } = {}) =>
    this.send<SandboxState>("POST", "/reset", options);
  configure = (settings: Partial<Settings>) => this.send<SandboxState>("PATCH", "", { settings });
  outbox = () => this.get<List<JsonRecord>>("/outbox");
  coverage = () => this.get<CoverageMatrix>("/coverage");
  bundle = () => this.send<Bundle>("POST", "/bundle");
  delete = () => this.send<void>("DELETE", "");

  private get<T>(path: string): Promise<T> {
    return this.http.call<T>("GET", this.path + path);
  }

  private send<T>(method: string, path: string, body?: unknown): Promise<T> {
    return this.http.call<T>(method, this.path + path, body);
  }
}

interface StateOptions {
  silent?: boolean;
  actor?: string;
}

function queryOf(values: object): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined) query.set(name, String(value));
  }
  return query.size === 0 ? "" : `?${query}`;
}
