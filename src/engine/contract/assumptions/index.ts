import type { Assumption } from "../provenance.ts";
import { ACCESS } from "./access.ts";
import { RESOURCES } from "./resources.ts";
import { WEBHOOKS } from "./webhooks.ts";

/**
 * The fidelity ledger: everything that the published reference leaves open, and the behaviour of this emulator there. A
 * behaviour that is neither specified nor listed here is a defect.
 */
export const ASSUMPTIONS: readonly Assumption[] = Object.entries({ ...ACCESS, ...RESOURCES, ...WEBHOOKS })
  .map(([id, assumption]) => ({ id, ...assumption }))
  .sort((a, b) => (a.id < b.id ? -1 : 1));
