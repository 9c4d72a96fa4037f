import { normalizePath } from "../../../engine/contract/http-url.ts";
import { MASK } from "../../redact.ts";
import type { Check, Observation } from "../check.ts";
import { isMasked, toExcerpt } from "../check-answer.ts";
import type { Exchange } from "../target.ts";
import type { Verdict } from "../verdict.ts";

/** A rule for every answer. */
interface Rule {
  /** The answers to which it applies; all by default. */
  appliesTo?: (one: Exchange) => boolean;
  fits: (one: Exchange) => boolean;
  /** Called after `fits` was false for the same answer. */
  problem: (one: Exchange) => string;
  assumption?: string | undefined;
}

/**
 * A check of all answers of a run: it comes last and sends nothing. `rules` creates the rules of one run. Recordings are
 * checked answer by answer (`observe`); equal problems are counted together.
 */
function createHeaderCheck(name: string, title: string, rules: () => readonly Rule[]): Check {
  return {
    id: `headers/${name}`,
    family: "headers",
    section: name.startsWith("rate") ? "8" : "9",
    title,
    sendsNothing: true,
    observe: { begin: () => createObserver(rules()) },
    run({ target, verdict }) {
      const answers = target.exchanges.filter(
        ({ status, operation }) => status > 0 && belongsToApi(operation),
      );
      if (answers.length === 0) return verdict.notObservable("there was no answer");
      for (const rule of rules()) checkAll(verdict, answers, rule);
    },
  };
}

function createObserver(rules: readonly Rule[]): ReturnType<Observation["begin"]> {
  return (verdict, exchange) => {
    if (!belongsToApi(exchange.operation)) return;
    for (const { appliesTo = () => true, fits, problem, assumption } of rules)
      if (appliesTo(exchange))
        verdict.expect(fits(exchange), `${describeAnswer(exchange)}: ${problem(exchange)}`, assumption);
  };
}

/**
 * Excludes answers that the API may not have given: of the user's own operations, which another service may handle; of
 * undeclared paths, which may not reach the service; and of upload URLs, which are the storage's.
 */
function belongsToApi(operation: Exchange["operation"]): boolean {
  if (operation === undefined || operation.sourceFile !== undefined) return false;
  return operation.id !== "uploads.put" && operation.id !== "uploads.cancel";
}

/** Checks all answers, and reports the first that breaks the rule. */
function checkAll(verdict: Verdict, all: readonly Exchange[], rule: Rule): void {
  const { appliesTo = () => true, fits, problem, assumption } = rule;
  const answers = all.filter(appliesTo);
  let first: string | undefined;
  let wrongCount = 0;
  for (const one of answers) {
    if (fits(one)) continue;
    // Described at once: the next answer changes what a rule remembers.
    first ??= `${describeAnswer(one)}: ${problem(one)}`;
    wrongCount += 1;
  }
  const more = wrongCount > 1 ? `, and ${wrongCount - 1} more of ${answers.length} answers` : "";
  if (first !== undefined) verdict.expect(false, `${first}${more}`, assumption);
  else if (answers.length > 0) verdict.confirm(assumption);
}

function describeAnswer({ method, path, status }: Exchange): string {
  return `${method} ${path} (${status})`;
}

function createPresenceRule(name: string, form: RegExp, description: string): Rule {
  return {
    fits: ({ headers }) => form.test(headers.get(name) ?? ""),
    problem: ({ headers }) => `${name} is ${toExcerpt(headers.get(name) ?? undefined)}, not ${description}`,
  };
}

const HEADER_FAMILIES = {
  plain: ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"],
  alternative: ["limit", "remaining", "reset"].flatMap((value) => [
    `x-ratelimit-${value}-requests`,
    `x-ratelimit-${value}-tokens`,
  ]),
};
const hasHeaders = ({ headers }: Exchange, names: readonly string[]) =>
  names.every((name) => headers.has(name));
const UNCOUNTED_STATUSES = new Set([400, 401, 404, 405, 413, 415]);

/** Whether the key was needed. A service may ignore it where none is needed. */
const needsKey = ({ authenticated, operation }: Exchange) =>
  authenticated && operation !== undefined && operation.credentials !== false;

/** Whether the request was certainly counted: it needed the key, found an operation, and could be read. */
function isCounted(exchange: Exchange): boolean {
  return needsKey(exchange) && !UNCOUNTED_STATUSES.has(exchange.status) && exchange.status < 500;
}

/** Maximum number of ids of one recording that are compared. */
const MAX_REMEMBERED_IDS = 200_000;

function createUniqueRule(): Rule {
  const seen = new Set<string>();
  return {
    fits({ headers }) {
      const id = headers.get("x-request-id");
      if (id === null) return true;
      const isRepeated = seen.has(id);
      if (seen.size < MAX_REMEMBERED_IDS) seen.add(id);
      return !isRepeated;
    },
    problem: ({ headers }) => `x-request-id ${headers.get("x-request-id")} is on more than one answer`,
  };
}

const ORGANIZATION_HEADER = "service-organization";
const findOrganization = ({ path }: Exchange) => /\/(org_[^/?]+)/.exec(normalizePath(path))?.[1];
const isSuccessWithKey = (one: Exchange) => needsKey(one) && one.status < 300;

const ORGANIZATION_RULES: readonly Rule[] = [
  {
    appliesTo: isSuccessWithKey,
    fits: ({ headers }) => /^org_\S+$/.test(headers.get(ORGANIZATION_HEADER) ?? ""),
    problem: ({ headers }) =>
      `${ORGANIZATION_HEADER} is ${toExcerpt(headers.get(ORGANIZATION_HEADER) ?? undefined)}`,
  },
  {
    appliesTo: (one) => isSuccessWithKey(one) && findOrganization(one) !== undefined,
    fits: (one) => findOrganization(one) === one.headers.get(ORGANIZATION_HEADER),
    problem: ({ headers }) =>
      `${ORGANIZATION_HEADER} is ${headers.get(ORGANIZATION_HEADER)}, not the organization of the path`,
    assumption: "G32",
  },
];

const hasPlainFamily = (one: Exchange) => isCounted(one) && hasHeaders(one, HEADER_FAMILIES.plain);
/** After this many answers to one key in one window, the count must have changed. */
const SAME_ANSWERS = 10;

/** In one window, the number of requests that remain never grows. */
function createGrowthRule(): Rule {
  let last = { window: "", remaining: 0 };
  let before = 0;
  return {
    // Another limit may be behind a 429, and the answers of a recording may not be in the order of the requests.
    appliesTo: (one) => hasPlainFamily(one) && one.recorded === undefined && one.status !== 429,
    fits(one) {
      const [limit, remaining, reset] = HEADER_FAMILIES.plain.map((name) => one.headers.get(name)!);
      const window = `${getCredential(one)} ${one.headers.get(ORGANIZATION_HEADER)} ${limit} ${reset}`;
      before = last.remaining;
      const fits = window !== last.window || Number(remaining) <= before;
      last = { window, remaining: Number(remaining) };
      return fits;
    },
    problem: () => `X-RateLimit-Remaining grows from ${before} to ${last.remaining} in one window`,
  };
}

/** Checks that a key's requests are counted. Skips answers of a recording that masks the key. */
function createCountRule(): Rule {
  let last = { window: "", remaining: "", answers: 0 };
  return {
    appliesTo: (one) => hasPlainFamily(one) && !isMasked(getCredential(one)),
    fits(one) {
      const [limit, remaining, reset] = HEADER_FAMILIES.plain.map((name) => one.headers.get(name)!);
      const window = `${getCredential(one)} ${limit} ${reset}`;
      const same = window === last.window && remaining === last.remaining && remaining !== "0";
      last = { window, remaining: remaining!, answers: same ? last.answers + 1 : 1 };
      return last.answers < SAME_ANSWERS;
    },
    problem: () => `X-RateLimit-Remaining is ${last.remaining} in ${last.answers} answers of one window`,
  };
}

function getCredential({ sent: { headers } }: Exchange): string {
  return headers.get("api-key") ?? headers.get("x-api-key") ?? headers.get("authorization") ?? MASK;
}

const RATE_RULES: readonly Rule[] = [
  {
    appliesTo: isCounted,
    fits: (one) => hasHeaders(one, HEADER_FAMILIES.plain) || hasHeaders(one, HEADER_FAMILIES.alternative),
    problem: () => "neither family of rate headers is complete",
  },
  {
    appliesTo: isCounted,
    fits: (one) => hasHeaders(one, HEADER_FAMILIES.plain) && hasHeaders(one, HEADER_FAMILIES.alternative),
    problem: () => "one of the two families of rate headers is missing",
    assumption: "G07",
  },
  {
    appliesTo: isCounted,
    fits: (one) => HEADER_FAMILIES.plain.every((name) => /^\d+$|^$/.test(one.headers.get(name) ?? "")),
    problem: () => "a rate header is not a whole number",
  },
  {
    appliesTo: hasPlainFamily,
    fits: ({ headers }) =>
      Number(headers.get("x-ratelimit-remaining")) <= Number(headers.get("x-ratelimit-limit")),
    problem: () => "more requests remain than the limit allows",
  },
  {
    appliesTo: hasPlainFamily,
    // Seconds since 1970. Seconds until the reset have fewer digits, milliseconds have more.
    fits: ({ headers }) => /^\d{9,10}$/.test(headers.get("x-ratelimit-reset") ?? ""),
    problem: ({ headers }) => `X-RateLimit-Reset ${headers.get("x-ratelimit-reset")} is not a Unix timestamp`,
  },
  {
    appliesTo: (one) => isCounted(one) && hasHeaders(one, HEADER_FAMILIES.alternative),
    fits: ({ headers }) => /^(\d+m)?\d+s$/.test(headers.get("x-ratelimit-reset-requests") ?? ""),
    problem: ({ headers }) => `x-ratelimit-reset-requests is ${headers.get("x-ratelimit-reset-requests")}`,
    assumption: "G07",
  },
  {
    appliesTo: (one) => hasPlainFamily(one) && hasHeaders(one, HEADER_FAMILIES.alternative),
    fits: ({ headers }) =>
      ["limit", "remaining"].every(
        (name) => headers.get(`x-ratelimit-${name}`) === headers.get(`x-ratelimit-${name}-requests`),
      ),
    problem: () => "the two families of rate headers state different numbers of requests",
    assumption: "G07",
  },
  {
    appliesTo: ({ status, text }) => status === 429 && text.includes("RATE_LIMIT"),
    fits: ({ headers }) => /^\d+$/.test(headers.get("retry-after") ?? ""),
    problem: ({ headers }) =>
      `Retry-After is ${toExcerpt(headers.get("retry-after") ?? undefined)}, not seconds`,
    assumption: "G05",
  },
];

export const headerChecks: readonly Check[] = [
  createHeaderCheck("service-api-version", "every answer carries service-api-version, a date", () => [
    createPresenceRule("service-api-version", /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/, "a date"),
  ]),
  createHeaderCheck("service-processing-ms", "every answer carries service-processing-ms, a number", () => [
    createPresenceRule("service-processing-ms", /^\d+(\.\d+)?$/, "milliseconds"),
  ]),
  createHeaderCheck("x-request-id", "every answer carries its own x-request-id", () => [
    createPresenceRule("x-request-id", /^\S+$/, "an id"),
    createUniqueRule(),
  ]),
  createHeaderCheck(
    "service-organization",
    "answers to calls with the key carry service-organization",
    () => ORGANIZATION_RULES,
  ),
  createHeaderCheck("rate-limit", "answers to calls with the key carry rate headers", () => [
    ...RATE_RULES,
    createCountRule(),
    createGrowthRule(),
  ]),
];
