import type * as Api from "../../../types/control-api.ts";
import type { JournalEntry, RuleDefinition, SettingsChange } from "../../../types/control-api.ts";
import type { Check } from "../checks/run-checks.ts";
import type { ClientOutcome, ClientSeverity } from "./client-report-types.ts";

/** The part of a sandbox's client that the grading uses. */
export interface GradedSandbox {
  info(): Promise<Api.SandboxState>;
  configure(settings: SettingsChange): Promise<unknown>;
  /** The sandbox as a file that `understudy open` shows. */
  export?(): Promise<Uint8Array>;
  readonly clock: { set(change: Api.ClockChange): Promise<unknown> };
  readonly faults: { add(rule: RuleDefinition): Promise<unknown>; remove(id: string): Promise<unknown> };
  readonly journal: { list(filter: Api.JournalFilter): Promise<Api.JournalPage>; clear(): Promise<unknown> };
  readonly snapshots: Record<"save" | "restore" | "remove", (name: string) => Promise<unknown>>;
  readonly receivers: {
    add(options: Api.ReceiverOptions): Promise<Api.Receiver>;
    list(): Promise<Api.List<Api.Receiver>>;
    requests(id: string): Promise<Api.List<Api.ReceivedRequest>>;
  };
}

export interface RunEnd {
  how: "ok" | "failed" | "timed out";
  /** Such as the exit code, or the error that was thrown. */
  detail: string;
}

/** One run of the client, as the timeline shows it. */
export interface ClientRun {
  end: RunEnd;
  /** Its requests, oldest first. */
  requests: readonly JournalEntry[];
  /** Whether a failure that was staged for the run answered the request, or delayed its answer. */
  isHit: (entry: JournalEntry) => boolean;
}

/** The failures of a run. Checks that share a run refer to the same stage. */
export interface Stage {
  /** Chooses rules from the run without failures, once the sandbox is ready. @returns why, if nothing can be staged */
  rules?: (
    baseline: ClientRun,
    sandbox: GradedSandbox,
  ) => RuleDefinition[] | string | Promise<RuleDefinition[] | string>;
  settings?: SettingsChange;
  /** Called after the run; what it returns is passed to `read`. */
  collect?: (sandbox: GradedSandbox) => Promise<unknown>;
}

export interface ClientFinding {
  outcome: ClientOutcome;
  /** One sentence. */
  why: string;
  /** The requests that show it. */
  evidence: readonly JournalEntry[];
}

export interface ReadContext {
  /** The run of the check's stage. */
  run: ClientRun;
  /** The run without failures; in a scenario, the requests of the run that no rule answered. */
  baseline: ClientRun;
  /** Requests that no rule answered: those of `baseline`; in a scenario, those of all its stages. */
  cleanRequests: readonly JournalEntry[];
  /** Whether other failures than the check's can have happened, as in a scenario. */
  isMixed: boolean;
  collected: unknown;
}

/** A requirement for an application that calls the API (interfaces.md 21). */
export interface ClientCheck extends Pick<Check<unknown, unknown>, "id" | "title"> {
  severity: ClientSeverity;
  /** The right behaviour, without code. */
  advice: string;
  /** Absent if the run without failures shows it. */
  stage?: Stage;
  /** Whether it compares times of requests: they show how long the client waited only if the clock runs as in reality. */
  readsTime?: true;
  /** Whether some requests of a run can show the flaw, since more of them can only add repetitions. */
  countsRepetitions?: true;
  /** Whether it depends on how the run ends. */
  readsEnd?: true;
  read: (context: ReadContext) => ClientFinding;
}

const createFinding =
  (outcome: ClientOutcome) =>
  (why: string, evidence: readonly JournalEntry[] = []): ClientFinding => ({ outcome, why, evidence });

export const passed = createFinding("passed");
export const failed = createFinding("failed");
export const notObservable = createFinding("not-observable");

/** Whether the same caller asks for the same: a retry, or a repetition. */
export function isSameCall(a: JournalEntry, b: JournalEntry): boolean {
  return (
    a.method === b.method &&
    a.path === b.path &&
    // The caller of a request with a wrong credential is unknown.
    (a.principal ?? b.principal) === (b.principal ?? a.principal) &&
    a.request.query === b.request.query &&
    isSameBody(a.request, b.request)
  );
}

/** The body of a request that was refused before it was read is unknown. */
function isSameBody(a: JournalEntry["request"], b: JournalEntry["request"]): boolean {
  return a.body === undefined || b.body === undefined || toComparableBody(a) === toComparableBody(b);
}

/** A form has another boundary each time it is sent. */
function toComparableBody({ headers, body }: JournalEntry["request"]): string {
  const [, boundary] = /boundary="?([^";]+)/i.exec(findHeader(headers, "content-type") ?? "") ?? [];
  const text = JSON.stringify(body);
  return boundary === undefined ? text : text.replaceAll(boundary, "");
}

/** The first request that the stage's rules answered and for which `accepts` is true. */
export function findHit(
  { requests, isHit }: ClientRun,
  accepts: (entry: JournalEntry) => boolean = () => true,
): JournalEntry | undefined {
  return requests.find((entry) => isHit(entry) && accepts(entry));
}

export function listAfter({ requests }: ClientRun, { sequence }: JournalEntry): JournalEntry[] {
  return requests.filter((one) => one.sequence > sequence);
}

/** Whether the run's end shows how the client took this failure: no other kind was staged, or each later request got it too. */
export function isEndCausedBy(
  { run, isMixed }: ReadContext,
  hit: JournalEntry,
  accepts: (entry: JournalEntry) => boolean,
): boolean {
  return !isMixed || listAfter(run, hit).every((entry) => run.isHit(entry) && accepts(entry));
}

/** Whether a wire fault such as `hang` broke the answer. */
export function isBrokenBy({ reasons }: JournalEntry, wire: string): boolean {
  return reasons.includes(`wire fault ${wire}`);
}

/** The first request of the run that succeeded and for which `accepts` is true; never one for a token. */
export function findTarget(
  { requests }: ClientRun,
  accepts: (entry: JournalEntry) => boolean = () => true,
): JournalEntry | undefined {
  const hasSucceeded = ({ operation, status }: JournalEntry) =>
    operation !== null && !operation.startsWith("auth.") && status >= 200 && status < 400;
  return requests.find((entry) => hasSucceeded(entry) && accepts(entry));
}

export const isRead = ({ method }: JournalEntry) => method === "GET";
export const isTokenRequest = ({ operation }: JournalEntry) =>
  operation === "auth.create_token" || operation === "auth.refresh_token";
export const usesToken = ({ request }: JournalEntry) =>
  /^bearer/i.test(findHeader(request.headers, "authorization") ?? "");

export function findHeader(
  headers: JournalEntry["request"]["headers"],
  lowerCaseName: string,
): string | undefined {
  return headers.find(({ name }) => name.toLowerCase() === lowerCaseName)?.value;
}

/** A rule that hits requests with this method and path that also fit `match`. */
export function makeRule(
  { method, path }: JournalEntry,
  rule: Omit<RuleDefinition, "match">,
  match: RuleDefinition["match"] = {},
): RuleDefinition {
  return { ...rule, match: { ...match, method: method as "GET", path } };
}

/** A stage that hits the method and path of a request of the run without failures; `missing` says that there is none. */
export function hitRequest(
  find: (baseline: ClientRun) => JournalEntry | undefined,
  rule: Omit<RuleDefinition, "match">,
  missing: string,
): Stage {
  return {
    rules(baseline) {
      const target = find(baseline);
      return target === undefined ? missing : [makeRule(target, rule)];
    },
  };
}

export const NO_GET = "the client made no successful GET";

/** A stage in which the client's first successful GET gets this effect, once. */
export function hitFirstGet(effect: RuleDefinition["effect"]): Stage {
  return hitRequest((baseline) => findTarget(baseline, isRead), { times: 1, effect }, NO_GET);
}

/** Milliseconds on the sandbox's clock, which runs as fast as the wall clock during a run. */
export function getArrival({ at }: JournalEntry): number {
  return Date.parse(at);
}

/** Wall milliseconds from the answer of one request to the next. */
export function measurePause(first: JournalEntry, next: JournalEntry): number {
  return getArrival(next) - getArrival(first) - first.duration_ms;
}

export function describeRequest({ method, path }: JournalEntry): string {
  return `${method} ${path}`;
}
