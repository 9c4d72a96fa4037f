import type { Bundle } from "../../api/types.ts";
import type { Node } from "./nodes.ts";
import { outcomeOf } from "./nodes.ts";

export type BundleStep = Bundle["steps"][number];

/** A step of a bundle, as one row of a list that cannot be changed. */
export interface StepRow {
  /** Its place in the bundle, from 1; nothing else in it is a name. */
  id: string;
  at: string;
  /** "GET /v1/models", or the control call. */
  title: string;
  status: number;
  outcome: Node["outcome"];
  step: BundleStep;
}

/**
 * What stands in a file, as far as the page shows it.
 * @throws Error with a sentence that says what it is instead
 */
export function bundleIn(text: string): Bundle {
  let document: Partial<Bundle> | null;
  try {
    document = JSON.parse(text);
  } catch {
    throw new Error("This file is not JSON, so it is no bundle.");
  }
  if (document?.format !== "understudy-bundle" || !Array.isArray(document.steps))
    throw new Error(
      "This file is JSON, but no bundle: “Export bundle”, `understudy bundle` and reports of a suite make them.",
    );
  return document as Bundle;
}

/** In the order in which they happened. */
export function rowsOf({ steps }: Bundle): StepRow[] {
  return steps.map((step, place) => {
    const id = String(place + 1);
    if ("control" in step) {
      const { method, path, status, now } = step.control;
      return { id, at: now, title: `${method} ${path}`, status, outcome: "other", step };
    }
    const { method, target, at } = step.request;
    const { status, headers } = step.answer;
    const decision = headers.find(([name]) => /^x-sandbox-decision$/i.test(name!))?.[1] ?? "";
    return {
      id,
      at,
      title: `${method} ${target}`,
      status,
      outcome: outcomeOf({ status, decision } as Node["request"], undefined),
      step,
    };
  });
}
