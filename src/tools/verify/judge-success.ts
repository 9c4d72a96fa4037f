import { type AnyOperation, listSuccesses, type Success } from "../../engine/contract/operation.ts";
import {
  assumedEndpoint,
  assumedHeader,
  assumedPlace,
  assumedStatus,
} from "../../engine/contract/provenance.ts";
import { excerpt, judgeBody } from "./judge-body.ts";
import { judgeWire } from "./judge-refusal.ts";
import type { Exchange } from "./target.ts";
import type { Verdict } from "./verdict.ts";

/** Headers that a success has only in some cases; the checks of their operations judge them. */
const SOMETIMES = new Set(["x-pii-redacted", "x-pii-policies", "x-provider-credits-consumed", "range"]);

export function succeeded({ status }: Exchange): boolean {
  return status >= 200 && status < 300;
}

/** Judges status, content type, documented headers and body of what should be a success of its operation. */
export function judgeSuccess(verdict: Verdict, exchange: Exchange): boolean {
  const operation = exchange.operation!;
  const { status, method, path, text } = exchange;
  if (!judgeWire(verdict, exchange)) return false;
  const about = `${method} ${path}`;
  if (!succeeded(exchange)) {
    const problem = `${about} answers ${status} instead of a success: ${excerpt(text)}`;
    return verdict.expect(false, problem, assumedEndpoint(operation));
  }
  const declared = listSuccesses(operation);
  const success = declared.find((one) => one.status === status);
  const statuses = declared.map((one) => one.status).join(" or ");
  verdict.expect(
    success !== undefined,
    `${about} answers ${status} instead of ${statuses}`,
    assumedStatus(operation),
  );
  const shape = success ?? declared[0]!;
  judgeHeaders(verdict, exchange, shape);
  return judgeContent(verdict, exchange, shape);
}

function judgeHeaders(
  verdict: Verdict,
  { operation, headers, path }: Exchange,
  { headers: names = [] }: Success,
) {
  for (const name of names) {
    if (SOMETIMES.has(name.toLowerCase())) continue;
    verdict.expect(
      headers.has(name),
      `${path}: the header ${name} is missing`,
      assumedHeader(operation!, name),
    );
  }
}

function judgeContent(verdict: Verdict, exchange: Exchange, shape: Success): boolean {
  const { headers, path, json, text, status } = exchange;
  const operation = exchange.operation as AnyOperation;
  const gap = assumedPlace(operation, "");
  const { schema, content_types = [] } = shape;
  const whole = exchange.recorded?.whole ?? true;
  if (schema === undefined && content_types.length === 0) {
    return verdict.expect(text === "", `${path}: ${status} has a body: ${excerpt(text)}`, gap);
  }
  const [type = ""] = (headers.get("content-type") ?? "").split(";");
  const allowed = [...content_types, ...(schema === undefined ? [] : ["application/json"])];
  const fits = allowed.includes(type.trim().toLowerCase());
  if (
    !verdict.expect(fits, `${path}: the content type is ${excerpt(type)}, not ${allowed.join(" or ")}`, gap)
  )
    return false;
  if (schema === undefined || !type.includes("json") || !whole) return true;
  return judgeBody(verdict, operation, schema, json, { masked: exchange.recorded !== undefined });
}
