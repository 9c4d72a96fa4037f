import type {
  Advanced,
  AdvanceTo,
  Bundle,
  ClockChange,
  ClockChanged,
  ClockState,
  CollectionName,
  CoverageMatrix,
  DeliveryDetail,
  Difference,
  EventName,
  ExplainInput,
  Explanation,
  FaultRule,
  FidelityLedger,
  Health,
  HistoryDetail,
  HistoryFilter,
  HistoryPage,
  HttpArchive,
  JournalEntry,
  List,
  PageOptions,
  Pending,
  ReceivedRequest,
  Receiver,
  ReceiverOptions,
  ReceiverTestEvent,
  ReceiverTestOptions,
  RecordChanges,
  Repeated,
  ResetOptions,
  RewindOptions,
  Rewound,
  RuleDefinition,
  SandboxOptions,
  SandboxState,
  ScenarioState,
  SettingsChange,
  SnapshotState,
  StateOptions,
  StateRecord,
  Triggered,
  TriggerOptions,
} from "../../../types/control-api.ts";
import { callControl, followControl, withQuery } from "./fetch-control.ts";
import type { ControlDescription, OpenApi } from "./open-api.ts";

export interface CollectionSummary {
  name: CollectionName;
  id_field: string;
  prefix: string;
  records: number;
}

/** Calls that are not about one sandbox, typed by the control API's declarations. */
export const server = {
  health: () => callControl<Health>("/_control/health"),
  /** OpenAPI document of the control API; forms read the schemas of records from it. */
  description: () => callControl<ControlDescription>("/_control/api.json"),
  /** OpenAPI document of the emulated API. */
  openApi: () => callControl<OpenApi>("/_control/openapi.json"),
  fidelity: () => callControl<FidelityLedger>("/_control/fidelity"),
  sandboxes: () => callControl<List<SandboxState>>("/_control/sandboxes"),
  createSandbox: (body: SandboxOptions) =>
    callControl<SandboxState>("/_control/sandboxes", { method: "POST", body }),
  login: (code: string) =>
    callControl<{ token: string }>("/_console/login", { method: "POST", body: { code } }),
};

/** Calls of one sandbox, below `/_control/sandboxes/NAME`. */
export function sandboxCalls(name: string) {
  const S = `/_control/sandboxes/${encodeURIComponent(name)}`;
  const get = <T>(path: string, query = {}) => callControl<T>(withQuery(S + path, query));
  const post = <T>(path: string, body?: unknown) => callControl<T>(S + path, { method: "POST", body });
  const of = (collection: CollectionName, id: string) => `${S}/state/${collection}/${encodeURIComponent(id)}`;
  return {
    path: S,
    show: () => get<SandboxState>(""),
    configure: (settings: SettingsChange) =>
      callControl<SandboxState>(S, { method: "PATCH", body: { settings } }),
    reset: (body: ResetOptions = {}) => post<SandboxState>("/reset", body),
    fork: (body: { name?: string }) => post<SandboxState>("/fork", body),
    remove: () => callControl<void>(S, { method: "DELETE" }),

    entry: (seq: number) => get<JournalEntry>(`/journal/${seq}`),
    repeatRequest: (seq: number) => post<Repeated>(`/history/${seq}/repeat`),
    archive: () => get<HttpArchive>("/journal.har"),
    bundle: () => post<Bundle>("/bundle"),

    historyEntry: (id: string) => get<HistoryDetail>(`/history/${encodeURIComponent(id)}`),
    changes: (id: string) => get<RecordChanges>(`/history/${encodeURIComponent(id)}/changes`),
    rewind: (id: string, body: RewindOptions) =>
      post<Rewound>(`/history/${encodeURIComponent(id)}/rewind`, body),
    forkEntry: (id: string, body: RewindOptions & { name?: string }) =>
      post<Rewound>(`/history/${encodeURIComponent(id)}/fork`, body),
    history: (query: HistoryFilter) => get<HistoryPage>("/history", query),

    clock: () => get<ClockState>("/clock"),
    setClock: (body: ClockChange) => callControl<ClockChanged>(`${S}/clock`, { method: "PUT", body }),
    advance: (body: AdvanceTo) => post<Advanced>("/clock/advance", body),
    pending: () => get<Pending[]>("/clock/pending"),

    snapshots: () => get<List<SnapshotState>>("/snapshots"),
    takeSnapshot: (snapshot: string) => post<SnapshotState>("/snapshots", { name: snapshot }),
    restoreSnapshot: (snapshot: string) =>
      post<SandboxState>(`/snapshots/${encodeURIComponent(snapshot)}/restore`),
    removeSnapshot: (snapshot: string) =>
      callControl<void>(`${S}/snapshots/${encodeURIComponent(snapshot)}`, { method: "DELETE" }),
    /** `now` is the current state; `b` belongs to the sandbox `of`. */
    compare: (a: string, b: string, of: string) =>
      get<Difference>(`/snapshots/${encodeURIComponent(a)}/diff/${encodeURIComponent(b)}`, { of }),
    scenarios: () => get<List<ScenarioState>>("/scenarios"),
    activate: (names: readonly string[]) =>
      callControl<{ names: string[] }>(`${S}/scenarios/active`, { method: "PUT", body: { names } }),
    rules: () => get<List<FaultRule>>("/faults"),
    addRule: (body: RuleDefinition) => post<FaultRule>("/faults", body),
    removeRule: (id: string) =>
      callControl<void>(`${S}/faults/${encodeURIComponent(id)}`, { method: "DELETE" }),
    explain: (body: ExplainInput) => post<Explanation>("/faults/explain", body),
    clearRules: () => callControl<void>(`${S}/faults`, { method: "DELETE" }),

    collections: () => get<List<CollectionSummary>>("/state"),
    records: <C extends CollectionName>(
      collection: C,
      query: PageOptions & Record<string, string | number> = {},
    ) => get<List<StateRecord<C>>>(`/state/${collection}`, query),
    record: <C extends CollectionName>(collection: C, id: string) =>
      callControl<StateRecord<C>>(of(collection, id)),
    addRecord: <C extends CollectionName>(
      collection: C,
      body: Partial<StateRecord<C>>,
      options: StateOptions = {},
    ) =>
      callControl<StateRecord<C>>(withQuery(`${S}/state/${collection}`, options), { method: "POST", body }),
    changeRecord: <C extends CollectionName>(
      collection: C,
      id: string,
      body: Partial<StateRecord<C>>,
      options: StateOptions = {},
    ) => callControl<StateRecord<C>>(withQuery(of(collection, id), options), { method: "PATCH", body }),
    removeRecord: (collection: CollectionName, id: string, options: StateOptions = {}) =>
      callControl<void>(withQuery(of(collection, id), options), { method: "DELETE" }),

    delivery: (id: string) => get<DeliveryDetail>(`/deliveries/${encodeURIComponent(id)}`),
    trigger: (event: EventName, options: TriggerOptions) => post<Triggered>("/events", { event, ...options }),
    receivers: () => get<List<Receiver>>("/receivers"),
    openReceiver: (body: ReceiverOptions) => post<Receiver>("/receivers", body),
    changeReceiver: (id: string, body: ReceiverOptions) =>
      callControl<Receiver>(`${S}/receivers/${encodeURIComponent(id)}`, { method: "PATCH", body }),
    closeReceiver: (id: string) =>
      callControl<void>(`${S}/receivers/${encodeURIComponent(id)}`, { method: "DELETE" }),
    received: (id: string) => get<List<ReceivedRequest>>(`/receivers/${encodeURIComponent(id)}/requests`),
    /** Progress events, then the report; aborting `signal` stops the test. */
    testReceiver: (body: ReceiverTestOptions, signal: AbortSignal) =>
      followControl<ReceiverTestEvent>(`${S}/receiver-test`, { method: "POST", body, signal }),

    coverage: () => get<CoverageMatrix>("/coverage"),
    clearCoverage: () => callControl<void>(`${S}/coverage`, { method: "DELETE" }),
  };
}

export type SandboxCalls = ReturnType<typeof sandboxCalls>;
