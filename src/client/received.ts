import { requireKnownOptions } from "./options.ts";
import { SandboxClient } from "./sandbox.ts";
import type { Duration, Expectation, Verification } from "./types.ts";

/** An expectation of a count; the other kind asks for a sequence. */
export type CountExpectation = Extract<Expectation, { match: unknown }>;

/** The expected requests or deliveries, as in `journal.verify`. */
export type ReceivedMatch = CountExpectation["match"];

export interface ReceivedOptions {
  /** How many; at least one unless given. */
  times?: CountExpectation["count"];
  /** Maximum wait for them, on the wall clock: `"5s"`. */
  within?: Duration;
}

/** The result of the matcher, for Vitest and Playwright. */
export interface MatcherResult {
  pass: boolean;
  message: () => string;
}

/** `expect(sandbox).toHaveReceived(match, { times, within })` of the runners (interfaces.md 13). */
export interface ReceivedMatchers<R = Promise<void>> {
  toHaveReceived(match: ReceivedMatch, options?: ReceivedOptions): R;
}

/**
 * Whether the sandbox has received the expected requests or deliveries; if not, which one came nearest.
 * @throws TypeError if it is not a sandbox; ControlError for a match that no request can have
 */
export async function toHaveReceived(
  sandbox: unknown,
  match: ReceivedMatch,
  options: ReceivedOptions = {},
): Promise<MatcherResult> {
  if (!(sandbox instanceof SandboxClient))
    throw new TypeError("toHaveReceived asks a sandbox: expect(sandbox).toHaveReceived({ operation: … })");
  requireKnownOptions("toHaveReceived", options, ["times", "within"]);
  const { times = { min: 1 }, within } = options;
  const { ok, found, nearest } = await sandbox.journal.verify({ match, count: times, within });
  const expectation = `${formatExpectedCount(times)} of ${JSON.stringify(match)}${within === undefined ? "" : ` within ${within}`}`;
  const requirement = `expected sandbox ${sandbox.name} ${ok ? "not to" : "to"} have received ${expectation}`;
  return { pass: ok, message: () => `${requirement}, found ${found}${ok ? "" : describeNearest(nearest)}` };
}

/** `exactly 2`, `at least 1`, `1 to 3`. */
export function formatExpectedCount(count: CountExpectation["count"]): string {
  if (typeof count === "number") return `exactly ${count}`;
  const { min, max } = count;
  if (max === undefined) return `at least ${min ?? 0}`;
  return min === undefined ? `at most ${max}` : `${min} to ${max}`;
}

/** The nearest request or delivery, and its differences from the expected one. */
export function describeNearest([first]: Verification["nearest"]): string {
  if (first === undefined) return "";
  const { method, path, status, differences } = first;
  const why = differences.length > 0 ? ` (${differences.join("; ")})` : "";
  return `; nearest: ${method} ${path} -> ${status}${why}`;
}
