import { CATALOGUE } from "../../contract/errors.ts";
import type { AnswerEffect, FaultFacts, InjectedEffect } from "../../sandbox/fault-gate.ts";
import { codeOfStatus } from "../codes.ts";
import type { AnswerPlan, EffectPlan } from "../effects/effect.ts";
import { asksForBody, plausibleRefusal, type SpendingOf } from "../plausible-refusal.ts";

/**
 * What a plan answers to this request. `answer` stands in for the plan's own, as an entry of a sequence does.
 * Waits for the body only where its ids belong into the details.
 */
export function effectOf(
  plan: EffectPlan,
  facts: FaultFacts,
  { answer = plan.answer, spending }: { answer?: AnswerPlan | undefined; spending: SpendingOf },
): InjectedEffect | undefined | Promise<InjectedEffect | undefined> {
  const { wire } = plan;
  const onWire = (inner: AnswerEffect | undefined): InjectedEffect | undefined =>
    wire === undefined ? inner : { kind: "wire", wire: wire.effect, over_ms: wire.over_ms, answer: inner };
  if (answer === undefined) return onWire(undefined);
  const resolved = withCode(answer, facts);
  if (resolved.kind === "code" && asksForBody(resolved.code, facts.operation) && !facts.bodyRead) {
    return facts.readBody().then(() => onWire(answerOf(resolved, facts, spending)));
  }
  return onWire(answerOf(resolved, facts, spending));
}

/** A bare 4xx is what the operation answers with that status. */
function withCode(answer: AnswerPlan, { operation }: FaultFacts): AnswerPlan {
  if (answer.kind === "code" || answer.body !== undefined || answer.status < 400 || answer.status >= 500)
    return answer;
  const code = codeOfStatus(operation, answer.status);
  return code === undefined
    ? answer
    : { kind: "code", code, forced: false, details: {}, headers: answer.headers };
}

function answerOf(answer: AnswerPlan, facts: FaultFacts, spending: SpendingOf): AnswerEffect {
  if (answer.kind === "code") {
    const { code } = answer;
    const { details, headers } = plausibleRefusal(code, facts, { given: answer.details, spending });
    return {
      kind: "error",
      code,
      status: CATALOGUE[code].status,
      details,
      headers: merged(headers, answer.headers),
    };
  }
  const { status, headers, body } = answer;
  if (body === undefined && status >= 400) return { kind: "error", code: `HTTP_${status}`, status, headers };
  return { kind: "raw", status, ...bodyOf(body, headers) };
}

function bodyOf(body: unknown, headers: Readonly<Record<string, string>>) {
  const typed = Object.keys(headers).some((name) => name.toLowerCase() === "content-type");
  if (body === undefined) return { headers, body: undefined, content_type: undefined };
  if (typeof body === "string")
    return { headers, body, content_type: typed ? undefined : "text/plain; charset=utf-8" };
  return {
    headers,
    body: JSON.stringify(body),
    content_type: typed ? undefined : "application/json; charset=utf-8",
  };
}

/** The rule's own headers stand in place of those of the same name. */
function merged(
  plausible: Record<string, string>,
  own: Readonly<Record<string, string>>,
): Record<string, string> {
  const given = new Set(Object.keys(own).map((name) => name.toLowerCase()));
  const kept = Object.entries(plausible).filter(([name]) => !given.has(name.toLowerCase()));
  return { ...Object.fromEntries(kept), ...own };
}
