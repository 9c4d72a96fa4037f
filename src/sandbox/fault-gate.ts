import type { AnyOperation, Principal } from "../contract/operation.ts";

/** What a fault rule may match on; `body` is read only if a rule asks for it. */
export interface FaultFacts {
  operation: AnyOperation;
  method: string;
  path: string;
  query: URLSearchParams;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Identified, not yet judged. */
  principal: Principal | undefined;
  /** The organization of the path, else the key's current one. */
  organization: string | undefined;
  body: () => Promise<unknown>;
}

/** How a fault answers. `error` takes status, envelope and headers from the operation it hits. */
export type StrikeEffect =
  | {
      kind: "error";
      code: string;
      status?: number;
      message?: string;
      details?: Record<string, unknown>;
      headers?: Record<string, string>;
    }
  | { kind: "raw"; status: number; headers: Record<string, string>; body: string }
  | { kind: "wire"; wire: WireFault; over_ms?: number; code?: string }
  | { kind: "refused"; problem: { status: number; title: string; detail: string } };

export type WireFault = "reset" | "hang" | "empty" | "truncate" | "garbage" | "drip";

export interface Strike {
  /** `fault:<scenario | header | inline>/<rule id or code>`, for X-Sandbox-Decision. */
  decision: string;
  /** Wall milliseconds to wait first; a strike may be nothing but a delay. */
  delay_ms: number;
  effect: StrikeEffect | undefined;
  /** For the journal: the rule, its draw. */
  reasons: readonly string[];
}

/** The pipeline's view of a sandbox's faults; `faults/` implements it. */
export interface FaultGate {
  /** The one check on a request when no rule is armed. */
  readonly armed: boolean;
  before(facts: FaultFacts): Promise<Strike | undefined>;
  after(facts: FaultFacts): Promise<Strike | undefined>;
  /** For the journal of a request that nothing struck: the nearest rule that did not match. */
  nearMisses(facts: FaultFacts): readonly string[];
  /** Names of the scenarios in force (interfaces 4). */
  readonly scenarios?: readonly string[];
  /** Puts exactly these scenarios in force. @throws DocumentError, Problem for a name that is not known */
  setScenarios?(names: readonly string[]): void;
  /** As on the sandbox's first day: its first scenarios, no inline rule, no hit, no draw (interfaces 4). */
  reset?(): void;
}
