import type { Check as AnyCheck } from "../checks/run-checks.ts";
import { checkSuccess, hasSucceeded } from "./check-answer.ts";
import type { Contract } from "./contract.ts";
import type { Call } from "./exchange.ts";
import type { KnownObjects, PathParams } from "./known-objects.ts";
import type { CheckFamily, VerifyReport } from "./report.ts";
import type { Exchange, Target } from "./target.ts";
import { Verdict } from "./verdict.ts";

type ReportedChange = VerifyReport["changes"][number];

/** A success on which further checks build, with the ids in its path. */
export interface SeenSuccess {
  params: PathParams;
  exchange: Exchange;
}

/** Ends a check that cannot go on; the message says what is missing. */
export class NotObservable extends Error {}

export interface RunParts {
  readonly contract: Contract;
  readonly target: Target;
  readonly known: KnownObjects;
  readonly changes: ReportedChange[];
  /** Changes that could not be undone, since the service refused it or did not answer. */
  failedUndos: number;
  /** By reading operation. */
  readonly successes: Map<string, SeenSuccess>;
}

export type Context = ReturnType<typeof createContext>;

/** One check's view of the run: it sends requests and collects the findings. */
export function createContext(parts: RunParts) {
  const { contract, target, known, changes, successes } = parts;
  const verdict = new Verdict();
  const send = (operation: string, call: Call = {}): Promise<Exchange> =>
    target.send({ operation: contract.getOperation(operation), ...call });
  return {
    ...parts,
    verdict,
    send,

    /** Sends a request that must succeed; undefined if the answer is not a declared success. */
    async sendAndCheck(operation: string, call: Call = {}): Promise<Exchange | undefined> {
      const exchange = await send(operation, call);
      return checkSuccess(verdict, exchange) ? exchange : undefined;
    },

    /** Known ids that belong together. @throws NotObservable if one is missing */
    requireIds<N extends string>(...names: readonly N[]): Record<N, string> {
      const [ids] = known.combineValues(names, 1);
      if (ids === undefined) throw new NotObservable(known.describeMissing(names));
      return ids as Record<N, string>;
    },

    /** @throws NotObservable if the operation has not succeeded */
    requireSuccess(operation: string): SeenSuccess {
      const success = successes.get(operation);
      if (success === undefined) throw new NotObservable(`${operation} has not succeeded`);
      return success;
    },

    /** Reports a change that the API cannot take back. */
    reportChange(done: string, detail: string): void {
      changes.push({ done, undone: false, detail });
    },

    /**
     * Runs `check`, which makes or checks a change, and always undoes the change.
     * @param done the report's text for the change; `undone` is that for its undo, and `undoing` names the undo if it fails
     */
    async checkAndUndo(
      done: string,
      check: () => Promise<void>,
      { undo, undone, undoing }: { undo: () => Promise<Exchange>; undone: string; undoing: string },
    ): Promise<Exchange> {
      const change = { done, undone: false, detail: "" };
      changes.push(change);
      let undoAnswer: Exchange | undefined;
      try {
        await check();
      } finally {
        undoAnswer = await target.undo(undo);
        change.undone = hasSucceeded(undoAnswer);
        change.detail = change.undone ? undone : `${undoing} answered ${undoAnswer.status}`;
        if (!change.undone) parts.failedUndos += 1;
      }
      return undoAnswer;
    },
  };
}

/** A check of single answers, live and in a recording alike. */
export interface Observation {
  /** The operation whose answers are checked; absent: every operation. */
  operation?: string;
  /** Checks only successes with a body. */
  successes?: true;
  /** Starts a check for one run, which may remember earlier answers. */
  begin: () => (verdict: Verdict, exchange: Exchange) => void;
}

/** One requirement for a service, such as `usage.retrieve_limits/month`. */
export interface Check extends AnyCheck<Context, void> {
  family: CheckFamily;
  /** Section of the reference, or the assumption that fills its gap. */
  section: string;
  /** Absent if the check needs its own requests. */
  observe?: Observation;
}

/**
 * A check of the successes of an operation. A live run applies it to one of them, then sends more requests by `tryMore`.
 * @param name completes the check's id, after the operation
 */
export function createSuccessCheck(
  operation: string,
  { name, ...about }: { name: string } & Pick<Check, "section" | "title">,
  checkExchange: ReturnType<Observation["begin"]>,
  tryMore?: (context: Context, first: SeenSuccess) => Promise<void>,
): Check {
  return {
    ...about,
    id: `${operation}/${name}`,
    family: "answers",
    observe: { operation, successes: true, begin: () => checkExchange },
    async run(context) {
      const first = context.requireSuccess(operation);
      checkExchange(context.verdict, first.exchange);
      await tryMore?.(context, first);
    },
  };
}
