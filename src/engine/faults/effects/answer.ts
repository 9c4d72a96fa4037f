import { Type } from "typebox";
import { CONNECTION_HEADER, FORBIDDEN_IN_VALUE, HEADER_NAME } from "../../contract/header-fields.ts";
import { isBodyless } from "../../contract/operation.ts";
import type { Effect, EffectDocument, ReportEffect } from "./effect.ts";

/**
 * The answer that a rule defines. A 5xx without a body has the operation's envelope (interfaces.md 6), and such a 4xx is the
 * operation's first documented code with that status.
 */
export const answerEffect: Effect = {
  keys: {
    status: Type.Integer({ minimum: 200, maximum: 599 }),
    body: Type.Unsafe<unknown>({ description: "A text as it is, anything else as JSON" }),
  },
  check(effect, report) {
    if (effect.body !== undefined && isBodyless(effect.status ?? 200))
      report(["body"], `cannot go with status ${effect.status}, which has no body`);
    if (effect.headers !== undefined && effect.error === undefined && !definesAnswer(effect))
      report(["headers"], "goes with an answer only: add `error`, `status` or `body`");
  },
  read(effect) {
    if (!definesAnswer(effect)) return {};
    const { status = 200, headers, body } = effect;
    return { answer: { kind: "status", status, headers: toHeaders(headers), body } };
  },
};

function definesAnswer({ status, body }: { status?: number; body?: unknown }): boolean {
  return status !== undefined || body !== undefined;
}

export const Headers = Type.Unsafe<Record<string, string | number>>({
  type: "object",
  additionalProperties: { type: ["string", "number"] },
  description: "Headers of the answer, added to those that every answer carries",
});

const MAX_NAME_LENGTH = 200;
const MAX_VALUE_LENGTH = 4096;

/** @param names all names of the map */
export function findHeaderNameProblem(name: string, names: readonly string[]): string | undefined {
  if (!HEADER_NAME.test(name)) return "is not a valid name of a header";
  if (name.length > MAX_NAME_LENGTH) return `is longer than ${MAX_NAME_LENGTH} characters`;
  const first = names.find((other) => other.toLowerCase() === name.toLowerCase())!;
  return first === name ? undefined : `is the same header as \`${first}\`, whose name differs only in case`;
}

/** Reports headers that Node refuses, or that would break the connection. */
export function checkHeaders({ headers = {} }: EffectDocument, report: ReportEffect): void {
  const names = Object.keys(headers);
  for (const [name, value] of Object.entries(toHeaders(headers))) {
    const path = ["headers", name];
    const nameProblem = findHeaderNameProblem(name, names);
    if (nameProblem !== undefined) report(path, nameProblem);
    else if (CONNECTION_HEADER.test(name))
      report(path, "belongs to the connection and cannot be set; see `wire`");
    else if (FORBIDDEN_IN_VALUE.test(value)) report(path, "contains characters that a header cannot carry");
    else if (value.length > MAX_VALUE_LENGTH) report(path, `is longer than ${MAX_VALUE_LENGTH} characters`);
  }
}

export function toHeaders(headers: EffectDocument["headers"] = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}
