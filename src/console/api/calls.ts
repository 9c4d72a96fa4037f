import type * as Api from "../../../types/control-api.ts";
import {
  appendQuery,
  callControl,
  fetchControl,
  followControl,
  throwConnectionLost,
} from "./fetch-control.ts";
import type { ControlDescription, JsonSchema, OpenApi } from "./open-api.ts";

type Collection = Api.CollectionName;

export interface CollectionSummary {
  name: Collection;
  id_field: string;
  prefix: string;
  records: number;
  /** The schema of a record, if the collection is a user’s own; the control API’s document has the other schemas. */
  schema?: JsonSchema;
}

/** Calls that are not about one sandbox, typed by the control API's declarations. */
export const server = {
  health: () => callControl<Api.Health>("/_control/health?started=true"),
  /** OpenAPI document of the control API; forms read the schemas of records from it. */
  description: () => callControl<ControlDescription>("/_control/api.json"),
  fidelity: () => callControl<Api.FidelityLedger>("/_control/fidelity"),
  sandboxes: () => callControl<Api.List<Api.SandboxState>>("/_control/sandboxes?forks=true"),
  createSandbox: (body: Api.SandboxOptions) =>
    callControl<Api.SandboxState>("/_control/sandboxes", { method: "POST", body }),
  /** @param file the file of `exportFile`, in base64 */
  openFile: (file: string) =>
    callControl<Api.SandboxState>("/_control/open", { method: "POST", body: { file } }),
  login: (code: string) =>
    callControl<{ token: string }>("/_console/login", { method: "POST", body: { code } }),
};

function toPath(parts: TemplateStringsArray, ...values: (string | number)[]): string {
  return String.raw({ raw: parts }, ...values.map(encodeURIComponent));
}

/** Calls of one sandbox, below `/_control/sandboxes/NAME`. `onEntry` gets the id of the history entry of each change. */
export function createSandboxCalls(name: string, onEntry?: (id: string) => void) {
  const basePath = toPath`/_control/sandboxes/${name}`;
  const get = <T>(below: string, query = {}) => callControl<T>(appendQuery(basePath + below, query));
  const post = <T>(below: string, body?: unknown) =>
    callControl<T>(basePath + below, { method: "POST", body, onEntry });
  const put = <T>(below: string, body: unknown) =>
    callControl<T>(basePath + below, { method: "PUT", body, onEntry });
  const patch = <T>(below: string, body: unknown) =>
    callControl<T>(basePath + below, { method: "PATCH", body, onEntry });
  const remove = (below: string) => callControl<void>(basePath + below, { method: "DELETE", onEntry });
  return {
    path: basePath,
    show: () => get<Api.SandboxState>(""),
    openApi: () => get<OpenApi>("/openapi.json"),
    configure: (settings: Api.SettingsChange) => patch<Api.SandboxState>("", { settings }),
    reset: (body: Api.ResetOptions) => post<Api.SandboxState>("/reset", body),
    fork: (body: { name?: string }) => post<Api.SandboxState>("/fork", body),
    remove: () => remove(""),

    journal: (query: Api.JournalFilter) => get<Api.JournalPage>("/journal", query),
    clearJournal: () => remove("/journal"),
    entry: (seq: number) => get<Api.JournalEntry>(toPath`/journal/${seq}`),
    searchBodies: (body: string) => get<{ seqs: number[] }>("/journal/search", { body }),
    repeatRequest: (seq: number) => post<Api.Repeated>(toPath`/history/${seq}/repeat`),
    archive: () => get<Api.HttpArchive>("/journal.har"),
    bundle: () => post<Api.Bundle>("/bundle"),
    exportFile: async () => {
      const response = await fetchControl(`${basePath}/export`, { method: "POST", body: {} });
      return response.blob().catch(throwConnectionLost);
    },

    history: (query: Api.HistoryFilter) => get<Api.HistoryPage>("/history", query),
    historyEntry: (id: string) => get<Api.HistoryDetail>(toPath`/history/${id}`),
    changes: (id: string) => get<Api.RecordChanges>(toPath`/history/${id}/changes`),
    rewind: (id: string, body: Api.RewindOptions) => post<Api.Rewound>(toPath`/history/${id}/rewind`, body),
    forkEntry: (id: string, body: Api.RewindOptions & { name?: string }) =>
      post<Api.Rewound>(toPath`/history/${id}/fork`, body),

    clock: () => get<Api.ClockState>("/clock"),
    setClock: (body: Api.ClockChange) => put<Api.ClockChanged>("/clock", body),
    advance: (body: Api.AdvanceTo) => post<Api.Advanced>("/clock/advance", body),
    pending: (query: { limit?: number } = {}) =>
      get<Api.Pending[]>("/clock/pending", { ...query, named: true }),

    runTimer: (body: Pick<Api.Pending, "kind" | "subject">) => post<Api.Advanced>("/clock/pending/run", body),
    stopAdvance: () => remove("/clock/advance"),

    snapshots: () => get<Api.List<Api.SnapshotState>>("/snapshots"),
    takeSnapshot: (snapshot: string) => post<Api.SnapshotState>("/snapshots", { name: snapshot }),
    restoreSnapshot: (snapshot: string) => post<Api.SandboxState>(toPath`/snapshots/${snapshot}/restore`),
    downloadSnapshot: (snapshot: string) => get<Api.SnapshotFile>(toPath`/snapshots/${snapshot}`),
    uploadSnapshot: (snapshot: string, file: unknown) =>
      put<Api.SnapshotState>(toPath`/snapshots/${snapshot}`, file),
    removeSnapshot: (snapshot: string) => remove(toPath`/snapshots/${snapshot}`),
    /** Compares snapshot `a` of this sandbox with `b` of the sandbox `of`; `now` is the current state. */
    compare: (a: string, b: string, of: string) =>
      get<Api.Difference>(toPath`/snapshots/${a}/diff/${b}`, { of }),

    scenarios: () => get<Api.List<Api.ScenarioState>>("/scenarios"),
    activate: (names: readonly string[]) => put<{ names: string[] }>("/scenarios/active", { names }),
    release: (id: string, body: Api.ReleaseOptions) => post<void>(toPath`/held/${id}/release`, body),
    rules: () => get<Api.List<Api.FaultRule>>("/faults"),
    /** @param place in the list, from 0 */
    addRule: (body: Api.RuleDefinition, place = 0) => post<Api.FaultRule>(`/faults?place=${place}`, body),
    changeRule: (id: string, body: Api.RuleDefinition) => put<Api.FaultRule>(toPath`/faults/${id}`, body),
    removeRule: (id: string) => remove(toPath`/faults/${id}`),
    clearRules: () => remove("/faults"),
    explain: (body: Api.ExplainInput) => post<Api.Explanation>("/faults/explain", body),

    collections: () => get<Api.List<CollectionSummary>>("/state"),
    records: <C extends Collection>(
      collection: C,
      query: Api.PageOptions & Record<string, string | number> = {},
    ) => get<Api.List<Api.StateRecord<C>>>(toPath`/state/${collection}`, query),
    record: <C extends Collection>(collection: C, id: string) =>
      get<Api.StateRecord<C>>(toPath`/state/${collection}/${id}`),
    addRecord: <C extends Collection>(
      collection: C,
      body: Partial<Api.StateRecord<C>>,
      options: Api.StateOptions = {},
    ) => post<Api.StateRecord<C>>(appendQuery(toPath`/state/${collection}`, options), body),
    changeRecord: <C extends Collection>(
      collection: C,
      id: string,
      body: Partial<Api.StateRecord<C>>,
      options: Api.StateOptions = {},
    ) => patch<Api.StateRecord<C>>(appendQuery(toPath`/state/${collection}/${id}`, options), body),
    removeRecord: (collection: Collection, id: string) => remove(toPath`/state/${collection}/${id}`),

    outbox: () => get<Api.List<Api.Email>>("/outbox"),
    redeliverFailed: (webhook: string | undefined) =>
      post<Api.List<unknown>>("/deliveries/redeliver", { all_failed: true, webhook }),
    delivery: (id: string) => get<Api.DeliveryDetail>(toPath`/deliveries/${id}`),
    trigger: (event: Api.EventName, options: Api.TriggerOptions) =>
      post<Api.Triggered>("/events", { event, ...options }),
    receivers: () => get<Api.List<Api.Receiver>>("/receivers"),
    openReceiver: (body: Api.ReceiverOptions) => post<Api.Receiver>("/receivers", body),
    changeReceiver: (id: string, body: Api.ReceiverOptions) =>
      patch<Api.Receiver>(toPath`/receivers/${id}`, body),
    closeReceiver: (id: string) => remove(toPath`/receivers/${id}`),
    received: (id: string) => get<Api.List<Api.ReceivedRequest>>(toPath`/receivers/${id}/requests`),
    /** Progress events, then the report; aborting `signal` stops the test. */
    testReceiver: (body: Api.ReceiverTestOptions, signal: AbortSignal) =>
      followControl<Api.ReceiverTestEvent>(`${basePath}/receiver-test`, { method: "POST", body, signal }),

    coverage: () => get<Api.CoverageMatrix>("/coverage"),
    clearCoverage: () => remove("/coverage"),
  };
}

export type SandboxCalls = ReturnType<typeof createSandboxCalls>;
