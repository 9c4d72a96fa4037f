import type { CoverageMatrix, FaultRule, ScenarioState } from "../../api/types.ts";

/** By what a scenario does to a call; one may do several things. */
export const KINDS = [
  "401",
  "403",
  "404",
  "409",
  "422",
  "429",
  "4xx",
  "5xx",
  "slow",
  "wire",
  "webhooks",
] as const;
export type Kind = (typeof KINDS)[number];

export const KIND_TITLES: Record<Kind, string> = {
  401: "401 signed out",
  403: "403 forbidden",
  404: "404 not found",
  409: "409 conflict",
  422: "422 invalid",
  429: "429 limited",
  "4xx": "Other 4xx",
  "5xx": "5xx failures",
  slow: "Slow",
  wire: "Broken wire",
  webhooks: "Webhooks",
};

/** The status that each code is answered with, as the operations document it. */
export function statusesOf(coverage: CoverageMatrix | undefined): ReadonlyMap<string, number> {
  return new Map(
    coverage?.operations.flatMap(({ outcomes }) =>
      outcomes.flatMap(({ code, status }): [string, number][] => (code ? [[code, status]] : [])),
    ),
  );
}

export function kindsOf({ rules }: ScenarioState, statuses: ReadonlyMap<string, number>): ReadonlySet<Kind> {
  return new Set(rules.flatMap((rule) => kindsOfRule(rule, statuses)));
}

function kindsOfRule(
  { match, sequence = [], effect }: FaultRule,
  statuses: ReadonlyMap<string, number>,
): Kind[] {
  if (match?.event !== undefined || match?.webhook !== undefined) return ["webhooks"];
  if (effect?.wire !== undefined) return ["wire"];
  const answers = [effect?.error, effect?.status, ...sequence].filter((one) => one !== undefined);
  const kinds = answers.flatMap((one) => kindOfAnswer(one, statuses));
  return kinds.length === 0 && effect?.delay !== undefined ? ["slow"] : kinds;
}

function kindOfAnswer(answer: string | number, statuses: ReadonlyMap<string, number>): Kind[] {
  const status = typeof answer === "number" ? answer : statuses.get(answer.replace(/!$/, ""));
  if (status === undefined || status < 400) return [];
  if (status >= 500) return ["5xx"];
  const own = String(status) as Kind;
  return [KINDS.includes(own) ? own : "4xx"];
}
