import type { JournalEntry } from "../../../../types/control-api.ts";
import {
  type ClientCheck,
  type ClientRun,
  describeRequest,
  failed,
  findHeader,
  findHit,
  hitFirstGet,
  isBrokenBy,
  isEndCausedBy,
  isRead,
  isSameCall,
  listAfter,
  makeRule,
  notObservable,
  passed,
} from "../client-check.ts";

const NEVER_ENDS = "the client does not end by itself, so a hang cannot be seen";

const givesUpOnSilence: ClientCheck = {
  id: "gives-up-on-silence",
  title: "does not wait for ever if there is no answer",
  severity: "error",
  advice: "Give every request a time limit, such as ten seconds, and end it when the limit has passed.",
  stage: hitFirstGet({ wire: "hang" }),
  readsEnd: true,
  read({ run, baseline }) {
    // In a scenario of several faults, a delay that the client does not wait for is silence too.
    const isSilent = (entry: JournalEntry) =>
      isBrokenBy(entry, "hang") || (entry.status === 0 && entry.fault!.delay_ms > 0);
    const hit = findHit(run, isSilent);
    if (hit === undefined) return notObservable("the request that was to get no answer was not sent");
    const { end } = run;
    const wentOn = listAfter(run, hit).length > 0;
    if (end.how !== "timed out" || wentOn) return passed("it gave up, and went on or ended", [hit]);
    return baseline.end.how === "timed out"
      ? notObservable(NEVER_ENDS)
      : failed(`it was still waiting for ${describeRequest(hit)} when the time ran out`, [hit]);
  },
};

const HTML_ANSWER = {
  status: 200,
  headers: { "Content-Type": "text/html; charset=utf-8" },
  body: "<!doctype html><title>Sign in</title>",
};

const BROKEN_ANSWERS = [
  ["truncated", "a body that ends in the middle", { wire: "truncate", status: 200, body: { data: [1, 2] } }],
  ["empty", "a connection that closes without an answer", { wire: "empty" }],
  ["wrong-type", "a page of HTML in place of JSON", HTML_ANSWER],
] as const;

function isHtmlAnswer({ status, fault, response }: JournalEntry): boolean {
  const type = findHeader(response.headers, "content-type");
  return status === 200 && fault?.replaced === "response" && type !== undefined && !type.includes("json");
}

const brokenBodies = BROKEN_ANSWERS.map(
  ([name, description, effect]): ClientCheck => ({
    id: `survives-${name}`,
    title: `ends in an error, and not in silence, after ${description}`,
    severity: "error",
    advice: `Treat ${description} as a failed request: show an error or try again, and stop waiting.`,
    stage: hitFirstGet(effect),
    readsEnd: true,
    read(context) {
      const { run, baseline } = context;
      const isBroken = (entry: JournalEntry) =>
        "wire" in effect ? isBrokenBy(entry, effect.wire) : isHtmlAnswer(entry);
      const hit = findHit(run, isBroken);
      if (hit === undefined) return notObservable("the request that was to break was not sent");
      const { how } = run.end;
      if (how !== "ok" && !isEndCausedBy(context, hit, isBroken))
        return notObservable(describeOtherEnd(description));
      if (how === "timed out") {
        return baseline.end.how === "timed out"
          ? notObservable(NEVER_ENDS)
          : failed(`it did not end after ${description}`, [hit]);
      }
      const retry = listAfter(run, hit).find((one) => isSameCall(one, hit));
      if (retry !== undefined) return passed("it tried again", [hit, retry]);
      if (how === "failed") return passed("it ended with an error", [hit]);
      return notObservable("it ended well; whether the user saw an error cannot be seen here");
    },
  }),
);

function describeOtherEnd(description: string): string {
  return `it went on after ${description}, so its end may have another cause`;
}

const toleratesAdditions: ClientCheck = {
  id: "tolerates-additions",
  title: "works when answers have new fields, new headers and another order of keys",
  severity: "error",
  advice: "Ignore fields and headers that you do not know, and never rely on the order of keys.",
  ...createNewerAnswersCheck({
    change: addFields,
    list: listFields,
    nothingToChange: "no GET was answered with JSON",
  }),
};

const toleratesNewValues: ClientCheck = {
  id: "tolerates-new-values",
  title: "works when an open enumeration has a value that is new",
  severity: "error",
  advice: "Treat a value that you do not know as a default, such as `other`, and go on with the rest.",
  ...createNewerAnswersCheck({
    change: replaceOpenValues,
    list: listOpenValues,
    nothingToChange: "no answer to a GET has an open enumeration",
  }),
};

interface NewerAnswers {
  /** Makes the answer of a later version. */
  change: (body: unknown) => unknown;
  /** The parts of an answer that can be new. */
  list: (body: unknown) => readonly string[];
  nothingToChange: string;
}

/** In the check's stage, the client gets the answers of the run without failures as a later version would give them. */
function createNewerAnswersCheck({
  change,
  list,
  nothingToChange,
}: NewerAnswers): Pick<ClientCheck, "stage" | "readsEnd" | "read"> {
  const rules = (baseline: ClientRun) => {
    if (baseline.end.how !== "ok") return "the client does not end by itself";
    const reads = baseline.requests.filter(isRead);
    // A rule for one query must not hit another, so it requires that the other parameters are absent.
    const absent = reads.flatMap(({ request }) =>
      listParameters(request.query).map(([name]) => [name, null]),
    );
    const unique = reads.filter((entry, at) => reads.findIndex((one) => isSameCall(one, entry)) === at);
    const newer = unique.flatMap((entry) => {
      const query = Object.fromEntries([...absent, ...listParameters(entry.request.query)]);
      const match = { query, ...(entry.api_key !== null && { api_key: entry.api_key }) };
      // Each repetition has its own answer, since the client may have changed the data in between; the last one stays.
      const answers = reads.filter((one) => isSameCall(one, entry)).map((one) => toNewerAnswer(one, change));
      const last = answers.pop();
      const sequence = answers.slice(0, MAX_SEQUENCE_LENGTH).map((answer) => answer ?? ("pass" as const));
      return [
        ...(answers.some(Boolean) ? [makeRule(entry, { sequence }, match)] : []),
        ...(last ? [makeRule(entry, { effect: last }, match)] : []),
      ];
    });
    return newer.length === 0 ? nothingToChange : newer;
  };
  return {
    stage: { rules },
    readsEnd: true,
    read(context) {
      const { run, cleanRequests } = context;
      const isNewer = (entry: JournalEntry) => {
        const others = cleanRequests.filter(({ operation }) => operation === entry.operation);
        const earlierParts = new Set(others.flatMap(({ response }) => list(response.body)));
        return (
          entry.status === 200 &&
          others.length > 0 &&
          list(entry.response.body).some((part) => !earlierParts.has(part))
        );
      };
      const hit = findHit(run, isNewer);
      if (hit === undefined)
        return notObservable("no answer differed in this way from earlier ones of its operation");
      const { how, detail } = run.end;
      if (how === "ok") return passed("it ended as it does without the changes", [hit]);
      return isEndCausedBy(context, hit, isNewer)
        ? failed(`with the changes it ${how === "failed" ? `ended with ${detail}` : "did not end"}`, [hit])
        : notObservable(describeOtherEnd("the changes"));
    },
  };
}

/** Excludes answers with masked secrets: their masks would be wrong values. */
function isPlainJson({ status, response }: JournalEntry): boolean {
  const { body } = response;
  return (
    status === 200 && typeof body === "object" && body !== null && !JSON.stringify(body).includes('***"')
  );
}

const MAX_SEQUENCE_LENGTH = 1000;

const listParameters = (query: string) => [...new URLSearchParams(query)];

/** Undefined if nothing in the answer can be new. */
function toNewerAnswer(entry: JournalEntry, change: (body: unknown) => unknown) {
  const { body } = entry.response;
  const newer = isPlainJson(entry) ? change(body) : body;
  if (JSON.stringify(newer) === JSON.stringify(body)) return undefined;
  const headers = { "X-Deprecated-Soon": "no", "Content-Type": "application/json; charset=utf-8" };
  return { status: entry.status, headers, body: newer };
}

function addFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(addFields);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, addFields(inner)] as const);
  return { added_later: { any: ["value", 1, null] }, ...Object.fromEntries(entries.toReversed()) };
}

/**
 * Fields whose values a service adds to. Without those that tell a client to wait or how to read the rest, such as
 * `status` and `type`: a sound client may stop at them.
 */
const OPEN_ENUMERATIONS = new Set(["provider", "action", "action_type", "resource_type", "level", "event"]);

function replaceOpenValues(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(replaceOpenValues);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const isOpen = OPEN_ENUMERATIONS.has(key) && typeof inner === "string";
      return [key, isOpen ? "added_later" : replaceOpenValues(inner)];
    }),
  );
}

/** Each field of an answer by its path, such as `.models.id`. */
function listFields(value: unknown): string[] {
  return listEntries(value).map(([path]) => path);
}

function listOpenValues(value: unknown): string[] {
  return listEntries(value).flatMap(([, key, inner]) =>
    OPEN_ENUMERATIONS.has(key) && typeof inner === "string" ? `${key}=${inner}` : [],
  );
}

function listEntries(value: unknown, path = ""): [path: string, key: string, value: unknown][] {
  if (Array.isArray(value)) return value.flatMap((item) => listEntries(item, path));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [
    [`${path}.${key}`, key, inner],
    ...listEntries(inner, `${path}.${key}`),
  ]);
}

export const ANSWER_CHECKS: readonly ClientCheck[] = [
  givesUpOnSilence,
  ...brokenBodies,
  toleratesAdditions,
  toleratesNewValues,
];
