import Type from "typebox";
import type { ErrorCode } from "../../contract/errors.ts";
import { typed } from "../../contract/schema.ts";
import { parseCode } from "../codes.ts";
import { Headers, headerProblem, toHeaders } from "./answer.ts";
import type { Effect } from "./effect.ts";

/** A catalogue code, answered as the operation that is hit would answer it. */
export const errorEffect: Effect = {
  keys: {
    error: typed(
      "AnyCode",
      Type.String({
        minLength: 1,
        description: "A catalogue code; CODE! also where it is never answered",
      }),
    ),
    details: Type.Unsafe<Record<string, unknown>>({
      type: "object",
      description: "Merged over the details that the operation itself would give",
    }),
    headers: Headers,
  },
  check(effect, report) {
    if (effect.details !== undefined && effect.error === undefined)
      report(["details"], "goes with `error` only");
    headerProblem(effect, report);
    if (effect.error === undefined) return;
    for (const key of ["status", "body"] as const) {
      if (effect[key] !== undefined) {
        report([key], `cannot go with \`error\`, which has its own; remove one of them`);
      }
    }
  },
  read({ error, details = {}, headers }) {
    if (error === undefined) return {};
    const { code, forced } = parseCode(error);
    // Checked before: what is read here is in the catalogue.
    return {
      answer: { kind: "code", code: code as ErrorCode, forced, details, headers: toHeaders(headers) },
    };
  },
};
