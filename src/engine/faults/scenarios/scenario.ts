import type { Rule } from "../rules/rule.ts";
import type { ExpectDocument } from "../rules/rule-schema.ts";

/** A scenario file, checked and read. */
export interface Scenario {
  name: string;
  description: string | undefined;
  /** The real path of its file. */
  file: string;
  rules: readonly Rule[];
  /** Judged by the suite runner against the journal. */
  expect: readonly ExpectDocument[];
}
