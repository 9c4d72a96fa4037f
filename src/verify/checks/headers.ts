import type { Check } from "../check.ts";
import { excerpt } from "../judge-body.ts";
import type { Exchange } from "../target.ts";
import type { Basis, Verdict } from "../verdict.ts";

/** Looks at every answer of the run, so it comes last and sends nothing. */
function everyAnswer(
  name: string,
  title: string,
  judge: (verdict: Verdict, answers: readonly Exchange[]) => void,
): Check {
  return {
    id: `headers/${name}`,
    family: "headers",
    section: name.startsWith("rate") ? "8" : "9",
    title,
    run({ target, verdict }) {
      const answers = target.exchanges.filter(({ status, operation }) => status > 0 && isOfTheApi(operation));
      if (answers.length === 0) return verdict.notObservable("no answer came");
      judge(verdict, answers);
    },
  };
}

/**
 * A path that nobody declares may never reach the service itself; an upload's URL speaks the storage's
 * protocol, and may be another host's.
 */
function isOfTheApi(operation: Exchange["operation"]): boolean {
  return operation !== undefined && operation.id !== "uploads.put" && operation.id !== "uploads.cancel";
}

/** Judges all, and tells of the first few that do not fit. */
function judgeAll(
  verdict: Verdict,
  answers: readonly Exchange[],
  {
    fits,
    problem,
    gap,
  }: { fits: (one: Exchange) => boolean; problem: (one: Exchange) => string; gap?: Basis },
): void {
  if (answers.length === 0) return;
  const wrong = answers.filter((one) => !fits(one));
  const [first] = wrong;
  const where = first && `${first.method} ${first.path} (${first.status})`;
  const more = wrong.length > 1 ? `, and ${wrong.length - 1} of ${answers.length} answers more` : "";
  verdict.expect(first === undefined, first === undefined ? "" : `${where}: ${problem(first)}${more}`, gap);
}

function present(name: string, form: RegExp, what: string) {
  return (verdict: Verdict, answers: readonly Exchange[]) =>
    judgeAll(verdict, answers, {
      fits: ({ headers }) => form.test(headers.get(name) ?? ""),
      problem: ({ headers }) => `${name} is ${excerpt(headers.get(name) ?? undefined)}, not ${what}`,
    });
}

const FAMILIES = {
  plain: ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"],
  alternative: ["limit", "remaining", "reset"].flatMap((what) => [
    `x-ratelimit-${what}-requests`,
    `x-ratelimit-${what}-tokens`,
  ]),
};
const has = ({ headers }: Exchange, names: readonly string[]) => names.every((name) => headers.has(name));
const UNCOUNTED = new Set([401, 404, 405]);

/** Answers that surely counted: those to the key that found their operation. */
function counted({ authenticated, operation, status }: Exchange): boolean {
  return authenticated && operation !== undefined && !UNCOUNTED.has(status) && status < 500;
}

export const headerChecks: readonly Check[] = [
  everyAnswer(
    "service-api-version",
    "every answer carries service-api-version, a date",
    present("service-api-version", /^\d{4}-\d{2}-\d{2}$/, "a date"),
  ),
  everyAnswer(
    "service-processing-ms",
    "every answer carries service-processing-ms, a number",
    present("service-processing-ms", /^\d+(\.\d+)?$/, "milliseconds"),
  ),
  everyAnswer("x-request-id", "every answer carries an x-request-id of its own", (verdict, answers) => {
    present("x-request-id", /^\S+$/, "an id")(verdict, answers);
    const ids = answers.flatMap(({ headers }) => headers.get("x-request-id") ?? []);
    const twice = ids.find((id, i) => ids.indexOf(id) !== i);
    verdict.expect(twice === undefined, `x-request-id ${twice} came with more than one answer`);
  }),
  everyAnswer("service-organization", "answers to the key carry service-organization", (verdict, answers) => {
    const own = answers.filter((one) => one.authenticated && one.status < 300);
    judgeAll(verdict, own, {
      fits: ({ headers }) => /^org_\S+$/.test(headers.get("service-organization") ?? ""),
      problem: ({ headers }) =>
        `service-organization is ${excerpt(headers.get("service-organization") ?? undefined)}`,
    });
    const named = own.filter(({ path }) => /\/(org_[^/?]+)/.test(path));
    judgeAll(verdict, named, {
      fits: ({ headers, path }) => /\/(org_[^/?]+)/.exec(path)![1] === headers.get("service-organization"),
      problem: ({ headers }) =>
        `service-organization is ${headers.get("service-organization")}, not the organization of the path`,
      gap: "G32",
    });
  }),
  everyAnswer("rate-limit", "answers to the key carry rate headers", (verdict, answers) => {
    const own = answers.filter(counted);
    if (own.length === 0) return verdict.notObservable("no request of the key was counted");
    judgeAll(verdict, own, {
      fits: (one) => has(one, FAMILIES.plain) || has(one, FAMILIES.alternative),
      problem: () => "neither family of rate headers is complete",
    });
    judgeAll(verdict, own, {
      fits: (one) => has(one, FAMILIES.plain) && has(one, FAMILIES.alternative),
      problem: () => "one of the two families of rate headers is missing",
      gap: "G07",
    });
    judgeAll(verdict, own, {
      fits: (one) => FAMILIES.plain.every((name) => /^\d+$|^$/.test(one.headers.get(name) ?? "")),
      problem: () => "a rate header is no whole number",
    });
    const plain = own.filter((one) => has(one, FAMILIES.plain));
    judgeAll(verdict, plain, {
      fits: ({ headers }) =>
        Number(headers.get("x-ratelimit-remaining")) <= Number(headers.get("x-ratelimit-limit")),
      problem: () => "more requests remain than the limit allows",
    });
    judgeAll(verdict, plain, {
      // Seconds since 1970 and not until the reset; in milliseconds it would be a date in the far future.
      fits: ({ headers }) => /^\d{9,10}$/.test(headers.get("x-ratelimit-reset") ?? ""),
      problem: ({ headers }) => `X-RateLimit-Reset ${headers.get("x-ratelimit-reset")} is no Unix timestamp`,
    });
    judgeAll(
      verdict,
      own.filter((one) => has(one, FAMILIES.alternative)),
      {
        fits: ({ headers }) => /^(\d+m)?\d+s$/.test(headers.get("x-ratelimit-reset-requests") ?? ""),
        problem: ({ headers }) =>
          `x-ratelimit-reset-requests is ${headers.get("x-ratelimit-reset-requests")}`,
        gap: "G07",
      },
    );
  }),
];
