import type { ApiError } from "../contract/errors.ts";
import type { AnyOperation, Principal } from "../contract/operation.ts";
import type { Settings } from "../contract/settings.ts";
import type { Transaction } from "../state/transaction.ts";
import type { Hold } from "./held.ts";

/** The facts of a request that fault rules match on, and that details of injected errors use. */
export interface FaultFacts {
  readonly operation: AnyOperation;
  readonly method: string;
  /** Without sandbox prefix and query. */
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Identified, not yet authorized. */
  readonly principal: Principal | undefined;
  /** For an undeclared path: the error with which this caller is refused even if a rule answers the path. */
  readonly callerRefusal: ApiError | undefined;
  /** The organization of the path, else the key's current one. */
  readonly organization: string | undefined;
  readonly world: Transaction;
  readonly settings: Settings;
  /** The current rate window of the caller's key; undefined without a caller. */
  readonly rate: { limit: number; seconds_left: number } | undefined;
  /** Parsed JSON once `readBody` was awaited; undefined before, and for a body that is not JSON. */
  readonly body: unknown;
  readonly hasReadBody: boolean;
  readBody(): Promise<void>;
}

/** The answer of a fault to one request. `error` has the envelope and spelling of the matched operation. */
export type FaultAnswer =
  | {
      kind: "error";
      /** A catalogue code, or `HTTP_503` and the like for a status alone. */
      code: string;
      status?: number;
      details?: Record<string, unknown>;
      headers: Readonly<Record<string, string>>;
    }
  | {
      kind: "raw";
      status: number;
      headers: Readonly<Record<string, string>>;
      body: string | undefined;
      content_type: string | undefined;
    };

/** The effect of a fault on one request: a plan (`EffectPlan`) with the details that this request gives it. */
export type RequestEffect =
  | FaultAnswer
  /** `answer` is the answer that is broken; by default the operation's, or a 503 if the operation has not run. */
  | { kind: "wire"; wire: WireFault; over_ms: number; answer: FaultAnswer | undefined }
  | { kind: "override-refused"; detail: string };

/** One way to break a connection. */
export interface WireFault {
  /** The name in rules and headers. */
  readonly name: string;
  /** Whether a client sees the answer's status; then the journal shows it. */
  readonly shows_status: boolean;
  /** Whether the connection stays open until its client leaves. */
  readonly staysOpen?: boolean;
  /** Must not throw; resolves when the connection has ended. */
  perform(wire: Wire): Promise<void>;
}

/** A connection that a wire fault breaks; the host provides it. */
export interface Wire {
  /** The response without the fault: status line and headers, then the body. */
  readonly head: Uint8Array;
  readonly body: Uint8Array;
  readonly over_ms: number;
  /** Aborts when the client has left or the server ends. */
  readonly clientLeft: AbortSignal;
  /** Reads the rest of the request: if bytes are unread when a connection is closed, the system resets it. */
  drain(): Promise<void>;
  write(bytes: Uint8Array): void;
  /** Sends the last bytes, if any, and closes the connection; resolves once it is closed. */
  finish(bytes?: Uint8Array): Promise<void>;
  /** Sends RST. */
  reset(): void;
  /** Closes without waiting for what is still to be sent. */
  destroy(): void;
}

/** The fault of one request: a delay, then a hold, then an effect; each part is optional. */
export interface Injection {
  /** `fault:<scenario | header | inline>/<rule id or code>`, for X-Sandbox-Decision. */
  decision: string;
  /** Wall milliseconds to wait first; a fault may be only a delay. */
  delay_ms: number;
  /** After the delay, the request waits until it is released. */
  hold?: Hold<RequestEffect> | undefined;
  effect: RequestEffect | undefined;
}

/**
 * A request in a sandbox whose scenarios have stages. Any request may end a stage, so a request uses the rules that were
 * active when it arrived.
 */
export interface StagedRequest extends Pick<FaultInjector, "before" | "after"> {
  /** The stages in which it arrived, as `scenario/stage`. */
  readonly stages: readonly string[];
  /** Adds the ends of stages that the request caused to the history. Call this once the request is in the journal. */
  recordStageEnds(): void;
}

/** The result of evaluating the rules for one request: what is injected, if anything, and why. */
export interface FaultVerdict {
  /** A rule answers the undeclared path, but only for authorized callers: this one gets its `callerRefusal`. */
  readonly refusesCaller?: boolean;
  readonly injection: Injection | undefined;
  /** For the journal: the rule that was triggered and its draw, else the nearest rule and why it did not match. */
  readonly reasons: readonly string[];
}

/** An attempt to deliver an event, as rules with `match: { event, webhook }` see it. */
export interface DeliveryFacts {
  event: string;
  webhook_id: string;
}

/** The outcome of an attempt, as if its receiver had caused it (interfaces.md 6). */
export interface DeliveryFault {
  /** `fault:<scenario | inline>/<rule id>`. */
  decision: string;
  /** Wall milliseconds by which the attempt is delayed, part of the webhook's timeout; `Infinity`: all of it. */
  delay_ms: number;
  /** First the attempt waits until it is released; then its timeout begins. */
  hold?: Hold<Pick<DeliveryFault, "delay_ms" | "answer">> | undefined;
  /** The status in place of the receiver's, 0 for none; undefined: the receiver is called. */
  answer: { response_code: number; error?: string } | undefined;
}

/** Plain JSON: the active rules and their progress, for forks and stores. */
export interface FaultState {
  /** The scenarios that a reset activates again. */
  first: readonly string[];
  active: readonly string[];
  /** Those of `active` that came with an opened file; absent if there are none. */
  opened?: readonly { name: string; document: object }[];
  inline: readonly { id: string; rule: object }[];
  /** By `<source>/<rule id>`. */
  progress: Readonly<Record<string, object>>;
  /** By scenario; absent if none has stages. */
  stages?: Readonly<Record<string, object>> | undefined;
  /** The number in the latest generated rule id, such as 3 for `fault_3`. */
  numbered: number;
}

/** An active scenario whose file or operation is gone or invalid. */
export interface UnusableScenario {
  scenario: string;
  /** Completes the sentence "it was active, but …". */
  reason: string;
}

export function describeUnusable(sandbox: string, { scenario, reason }: UnusableScenario): string {
  return `The scenario ${scenario} was active in sandbox ${sandbox}, but ${reason}.`;
}

export interface SandboxRules {
  /** Grows with every change of `FaultInjector.toState()`: other active rules, or their progress. */
  readonly revision: number;
  /** Names of the active scenarios (interfaces.md 4). */
  readonly scenarios: readonly string[];
  /** The names of active scenarios, and the inline rules. Compare them by identity: a replaced rule is another object. */
  readonly active: readonly unknown[];
  /** All stages of active scenarios, as `scenario/stage`. */
  readonly stages: readonly string[];
  /** The paths and globs of rules that match by path; the API may lack such a path. */
  readonly paths: readonly string[];
  /** Called when a request or delivery is held. */
  onHold(): void;
  /** Called after a restore has replaced the world and its timers: leases keep their remaining time. @param shift_ms how far it moved the clock */
  moveLeases(shift_ms: number): void;
}

/** The faults of one sandbox, for the sandbox, the pipeline and the sender of webhooks. */
export interface FaultInjector {
  /** If false, only requests with a fault header call `enterStages`, `before` and `after`. */
  readonly mayAffectRequests: boolean;
  /** The operation of requests whose path no declared operation has. */
  readonly undeclaredOperation: AnyOperation;
  /** Whether a rule answers undeclared paths. */
  readonly matchesUndeclaredPaths: boolean;
  readonly rules: SandboxRules;
  /** Called when a request arrives; undefined if no scenario has stages. */
  enterStages(): StagedRequest | undefined;
  /** Decides before the operation runs. */
  before(facts: FaultFacts): FaultVerdict | Promise<FaultVerdict>;
  /** Decides after the operation has run, by the rules with `phase: after`. */
  after(facts: FaultFacts): FaultVerdict | Promise<FaultVerdict>;
  /** Decides for the sender of webhooks; returns undefined if no rule applies to this attempt. */
  evaluateDelivery(facts: DeliveryFacts): DeliveryFault | undefined;
  /** Activates exactly these scenarios. @throws UnknownScenarioError, DocumentError */
  setScenarios(names: readonly string[]): void;
  /** The same; a reset activates them again. @throws UnknownScenarioError, DocumentError */
  setInitialScenarios(names: readonly string[]): void;
  /** Resets to the initial state: the first scenarios, no inline rule, no hit, no draw (interfaces.md 4). */
  reset(): void;
  toState(): FaultState;
  /** Returns the scenarios that cannot be active again. @param shift_ms moves the ends of leases, for a world of another time */
  restoreState(state: FaultState, shift_ms?: number): readonly UnusableScenario[];
  close(): void;
}

/** The named scenario is neither shipped nor in the user's folder. */
export class UnknownScenarioError extends Error {
  override readonly name = "UnknownScenarioError";
  readonly scenario: string;
  readonly hint: string | undefined;

  constructor(scenario: string, hint: string | undefined) {
    super(`there is no scenario ${JSON.stringify(scenario.slice(0, 80))}`);
    this.scenario = scenario;
    this.hint = hint;
  }
}
