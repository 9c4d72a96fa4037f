import type { Contract } from "./contract.ts";
import type { Binding, KnownObjects } from "./known-objects.ts";
import type { Family } from "./report.ts";
import type { Exchange, Target } from "./target.ts";
import type { Verdict } from "./verdict.ts";

/** What was changed with `--write`, for the report. */
export interface Change {
  done: string;
  undone: boolean;
  detail: string;
}

export interface Context {
  contract: Contract;
  target: Target;
  known: KnownObjects;
  verdict: Verdict;
  changes: Change[];
  /** Each reading operation's first success, with the objects that it was asked for. */
  answered: Map<string, { params: Binding; exchange: Exchange }>;
}

export interface Check {
  /** Such as `usage.retrieve_limits/month`. */
  id: string;
  family: Family;
  /** Of the reference, or the assumption that stands in its place. */
  section: string;
  title: string;
  run: (context: Context) => Promise<void> | void;
}
