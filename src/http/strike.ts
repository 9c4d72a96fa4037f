import { setTimeout as sleep } from "node:timers/promises";
import { CATALOGUE } from "../contract/errors.ts";
import type { FaultFacts, Strike, StrikeEffect } from "../sandbox/fault-gate.ts";
import { renderedAnswer } from "./answer.ts";
import type { Answer, Exchange } from "./exchange.ts";
import { receiveBody } from "./steps.ts";

type WireEffect = Extract<StrikeEffect, { kind: "wire" }>;

/** A fault decided the answer; carries it past the rest of the line. */
export class Struck extends Error {
  readonly strike: Strike;
  readonly answer: Answer;
  readonly wire: WireEffect | undefined;

  constructor(strike: Strike, answer: Answer, wire?: WireEffect) {
    super(strike.decision);
    this.strike = strike;
    this.answer = answer;
    this.wire = wire;
  }
}

/** interfaces 3: one request asks for its own fault. */
export function hasOverride(headers: Exchange["request"]["headers"]): boolean {
  return (
    headers["x-sandbox-fault"] !== undefined ||
    headers["x-sandbox-delay"] !== undefined ||
    (headers["prefer"] !== undefined && /\bcode\s*=/.test(String(headers["prefer"])))
  );
}

/**
 * Lets the sandbox's faults strike. A delay alone only waits (on the wall clock, frozen or not).
 * @throws Struck when a fault answers in place of the operation
 */
export async function strike(exchange: Exchange, phase: "before" | "after", answer?: Answer): Promise<void> {
  const { faults } = exchange.sandbox;
  const found =
    phase === "before" ? await faults.before(facts(exchange)) : await faults.after(facts(exchange));
  if (found === undefined) {
    if (phase === "before") exchange.reasons = faults.nearMisses(facts(exchange));
    return;
  }
  exchange.reasons = found.reasons;
  if (found.delay_ms > 0) await sleep(found.delay_ms);
  if (found.effect === undefined) {
    exchange.decision = found.decision;
    return;
  }
  throw struckBy(exchange, found, found.effect, answer);
}

function struckBy(
  exchange: Exchange,
  found: Strike,
  effect: StrikeEffect,
  answer: Answer | undefined,
): Struck {
  switch (effect.kind) {
    case "refused":
      return new Struck(found, {
        status: effect.problem.status,
        headers: {},
        content_type: "application/problem+json",
        body: JSON.stringify({ type: "about:blank", ...effect.problem }),
      });
    case "raw":
      return new Struck(found, {
        status: effect.status,
        headers: effect.headers,
        content_type: undefined,
        body: effect.body,
      });
    case "error":
      return new Struck(found, catalogueAnswer(exchange, effect));
    case "wire":
      return new Struck(
        found,
        answer ?? catalogueAnswer(exchange, { kind: "error", code: effect.code ?? "HTTP_503" }),
        effect,
      );
  }
}

/** A catalogue code in the operation's envelope; a bare 5xx is code `HTTP_503`, type `server_error` (interfaces 6). */
function catalogueAnswer(exchange: Exchange, effect: Extract<StrikeEffect, { kind: "error" }>): Answer {
  const known = Object.hasOwn(CATALOGUE, effect.code)
    ? CATALOGUE[effect.code as keyof typeof CATALOGUE]
    : undefined;
  const status = effect.status ?? known?.status ?? Number(/^HTTP_(\d{3})$/.exec(effect.code)?.[1] ?? 503);
  exchange.code = effect.code;
  return renderedAnswer(exchange, {
    error: {
      code: effect.code,
      status,
      type: known?.type ?? (status >= 500 ? "server_error" : "client_error"),
      message: effect.message ?? known?.message ?? "The service is unavailable.",
      system_message:
        known?.system_message ?? "A fault that is armed in this sandbox answered in place of the operation.",
      details: effect.details ?? {},
    },
    headers: effect.headers ?? {},
  });
}

function facts(exchange: Exchange): FaultFacts {
  const { request } = exchange;
  return {
    operation: exchange.operation!,
    method: exchange.method,
    path: exchange.path,
    query: new URLSearchParams(exchange.query),
    headers: request.headers,
    principal: exchange.identity?.principal,
    organization: exchange.organization,
    body: () => bodyOf(exchange),
  };
}

/** For matching only: a body that is not JSON matches nothing, and is refused later by validation. */
async function bodyOf(exchange: Exchange): Promise<unknown> {
  if (exchange.operation!.body?.kind !== "json") return undefined;
  const bytes = await receiveBody(exchange);
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    return undefined;
  }
}
