import { Type } from "typebox";
import {
  ClosedObject,
  Nullable,
  StringEnum,
  Timestamp,
  withLibraryType,
} from "../../engine/contract/schema.ts";
import { SEVERITIES } from "./report.ts";

const Count = () => Type.Integer({ minimum: 0 });

const SentRequest = ClosedObject({
  method: Type.String(),
  url: Type.String(),
  headers: withLibraryType(
    "[name: string, value: string][]",
    Type.Array(Type.Unsafe<[name: string, value: string]>({ type: "array", items: { type: "string" } }), {
      description: "In the order and letter case in which they were sent",
    }),
  ),
  body: Type.String({ description: "Long bodies are abbreviated; the command in `curl` sends every byte" }),
  body_bytes: Count(),
});
const CheckBody = ClosedObject(
  {
    id: Type.String(),
    title: Type.String(),
    severity: StringEnum(SEVERITIES),
    why: Type.String(),
    outcome: StringEnum(["passed", "failed", "not-observable", "error"]),
    detail: Type.String(),
    advice: Type.String({ description: "What to change when the check fails" }),
    note: Nullable(Type.String({ description: "A note that is not a failure" })),
    duration_ms: Count(),
    request: Nullable(SentRequest),
    curl: Nullable(Type.String()),
  },
  { $id: "CheckReport" },
);
/** The result of grading a receiver. */
export const ReceiverReportBody = ClosedObject(
  {
    url: Type.String(),
    probe: Nullable(Type.String()),
    started_at: Timestamp({ description: "On the wall clock" }),
    duration_ms: Count(),
    verdict: StringEnum(["pass", "fail"]),
    fail_on: StringEnum(SEVERITIES, { description: "The lowest severity whose failure fails the receiver" }),
    stopped: Nullable(Type.String({ description: "Why grading ended before the last check" })),
    summary: ClosedObject({
      total: Count(),
      passed: Count(),
      failed: Count(),
      not_observable: Count(),
      error: Count(),
    }),
    checks: Type.Array(CheckBody),
    manual_checks: Type.Array(
      ClosedObject({
        what: Type.String(),
        how: Type.String({ description: "How to check it in the receiver's code" }),
      }),
      { description: "Questions that only a look at the receiver's code can answer" },
    ),
  },
  { $id: "ReceiverReport" },
);
