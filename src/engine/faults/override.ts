import { parseDuration } from "../contract/duration.ts";
import { type AnyOperation, listSuccesses } from "../contract/operation.ts";
import { findNearest, isJoinedHeader, toSentence } from "../contract/text.ts";
import type { FaultFacts } from "../sandbox/fault-types.ts";
import { findDelayProblem } from "./effects/delay.ts";
import type { EffectPlan } from "./effects/effect.ts";
import {
  findCodeForStatus,
  findNearestCode,
  isCatalogueCode,
  listDocumentedCodes,
  parseCode,
  toCodeAnswer,
} from "./effects/error.ts";
import { readEffect, WIRE_EFFECTS } from "./effects/index.ts";
import { UNDECLARED_OPERATION } from "./rule.ts";
import type { ScenarioNames } from "./scenario.ts";

const WIRE_NAMES: readonly string[] = WIRE_EFFECTS.map(({ name }) => name);

/** The fault and the delay that a request sets for itself (interfaces.md 3). */
export interface Override {
  delay_ms: number | undefined;
  fault: OverrideFault | undefined;
}

type OverrideFault =
  | { kind: "plan"; plan: EffectPlan; name: string }
  /** The rules of a scenario, active or not. */
  | { kind: "scenario"; name: string };

/** An override that cannot be applied; it is refused, never ignored. */
export class OverrideError extends Error {
  override readonly name = "OverrideError";
}

/** @throws OverrideError */
export function readOverride(
  { headers, operation }: FaultFacts,
  { scenarios, isAllowed }: { scenarios: ScenarioNames; isAllowed: boolean },
): Override | undefined {
  const fault = headers["x-sandbox-fault"];
  const delay = headers["x-sandbox-delay"];
  // Preferences on a path outside the contract are for the upstream.
  const preferredStatus =
    headers["prefer"] === undefined || operation === UNDECLARED_OPERATION
      ? undefined
      : readPreferredStatus(String(headers["prefer"]));
  if (fault === undefined && delay === undefined && preferredStatus === undefined) return undefined;
  if (!isAllowed)
    throw new OverrideError(
      "This server takes no X-Sandbox-Fault, X-Sandbox-Delay or Prefer: code=N: it was started with --no-overrides. Arm a rule by the control API instead.",
    );
  const delay_ms = delay === undefined ? undefined : readDelay(String(delay));
  const preferredFault =
    preferredStatus === undefined ? undefined : readPreferredFault(preferredStatus, operation);
  return {
    delay_ms,
    fault: fault === undefined ? preferredFault : readFault(String(fault).trim(), operation, scenarios),
  };
}

function readDelay(text: string): number {
  if (isJoinedHeader(text)) throw new OverrideError("X-Sandbox-Delay was sent twice.");
  const problem = findDelayProblem(text);
  if (problem !== undefined)
    throw new OverrideError(toSentence(`X-Sandbox-Delay ${problem.message}`, problem.hint));
  return parseDuration(text)!;
}

function readFault(text: string, operation: AnyOperation, scenarios: ScenarioNames): OverrideFault {
  const { code, forced } = parseCode(text);
  if (isCatalogueCode(code)) {
    if (forced || operation === UNDECLARED_OPERATION || listDocumentedCodes(operation).has(code))
      return toCodeFault(text);
    throw new OverrideError(
      `${operation.id} never answers ${code}. It answers ${[...listDocumentedCodes(operation)].join(", ")}; X-Sandbox-Fault: ${code}! forces it anyway.`,
    );
  }
  if (WIRE_NAMES.includes(text)) return { kind: "plan", plan: readEffect({ wire: text }), name: text };
  if (scenarios.has(text)) return { kind: "scenario", name: text };
  if (isJoinedHeader(text)) throw new OverrideError("X-Sandbox-Fault was sent twice.");
  const hint =
    findNearestCode(code, [operation]) ?? findNearest(text, [...WIRE_NAMES, ...scenarios.listNames()]);
  throw new OverrideError(
    toSentence(
      `X-Sandbox-Fault: ${JSON.stringify(text.slice(0, 80))} is neither a code of the catalogue, nor a scenario, nor a wire fault (${WIRE_NAMES.join(", ")})`,
      hint,
    ),
  );
}

function toCodeFault(text: string): OverrideFault {
  const answer = toCodeAnswer(text);
  return { kind: "plan", plan: { answer }, name: answer.code };
}

/** The N of `Prefer: code=N`, empty if there is none; undefined for other preferences. */
function readPreferredStatus(prefer: string): string | undefined {
  const match = /(?:^|[\s,;])code\s*(?:=\s*([^\s,;]*)|$|[,;])/i.exec(prefer);
  return match === null ? undefined : (match[1] ?? "");
}

/**
 * Reads the N of `Prefer: code=N`: gives the operation's first documented error code with this status, else the answer
 * that a user's document describes; undefined if N is a success of the operation.
 */
function readPreferredFault(text: string, operation: AnyOperation): OverrideFault | undefined {
  const digits = /^"?(\d{3})"?$/.exec(text)?.[1];
  if (digits === undefined)
    throw new OverrideError(
      `Prefer: code=${text.slice(0, 40)} is not a status; write it as in \`Prefer: code=404\`.`,
    );
  const status = Number(digits);
  if (listSuccesses(operation).some((success) => success.status === status)) return undefined;
  const code = findCodeForStatus(operation, status);
  if (code !== undefined) return toCodeFault(code);
  const described = status >= 200 && status < 600 ? operation.openapi?.answer(status) : undefined;
  if (described !== undefined) {
    const answer = { kind: "status" as const, status, ...described.createReply() };
    return { kind: "plan", plan: { answer }, name: digits };
  }
  throw new OverrideError(
    `${operation.id} documents no answer with status ${status}; it answers ${[...listDocumentedCodes(operation)].join(", ")}.`,
  );
}
