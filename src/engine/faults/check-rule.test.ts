import { describe, expect, it } from "vitest";
import { DocumentError } from "../documents/document-error.ts";
import { API } from "../resources/index.ts";
import { findPatternProblem } from "./check-rule.ts";
import { readScenario } from "./scenario.ts";

function listProblems(text: string): string[] {
  try {
    readScenario({ text, displayName: "s.yaml", file: "/s.yaml" }, API);
    return [];
  } catch (error) {
    if (error instanceof DocumentError) return error.format().split("\n");
    throw error;
  }
}

const checkRuleText = (text: string) => listProblems(`rules:\n  - ${text}\n`);

describe("a scenario file", () => {
  it("the example of the reference is accepted, key by key [interfaces 6]", () => {
    const text = `name: flaky-uploads
description: The first two registrations fail after the file was stored; uploads crawl.
rules:
  - id: lost-answer
    match: { operation: files.register, principal: usr_dan }
    sequence: [503, RATE_LIMIT_EXCEEDED, pass]
    phase: after
    effect: { delay: 200ms }
    lease: { ttl: 10m, hits: 5 }
`;
    expect(listProblems(text)).toEqual([]);
    const { rules } = readScenario({ text, displayName: "s", file: "/s.yaml" }, API);
    expect(rules[0]).toMatchObject({
      id: "lost-answer",
      phase: "after",
      lease: { ttl_ms: 600_000, hits: 5 },
    });
  });

  it.each([
    [
      "operation",
      "{ match: { operation: threads.delte }, effect: { status: 503 } }",
      "2:27",
      "threads.delete",
    ],
    ["code", "{ effect: { error: RATE_LIMIT_EXCEDED } }", "2:24", "RATE_LIMIT_EXCEEDED"],
    [
      "code in another envelope's spelling",
      "{ effect: { error: thread_not_found } }",
      "2:24",
      "RESOURCE_NOT_FOUND",
    ],
    ["code in a sequence", "{ sequence: [503, pas] }", "2:23", "pass"],
    ["event", "{ match: { event: user.craeted }, effect: { status: 503 } }", "2:23", "user.created"],
    ["key of a rule", "{ efect: { status: 503 } }", "2:7", "effect"],
    [
      "key of a match",
      "{ match: { operatoin: threads.delete }, effect: { status: 503 } }",
      "2:16",
      "operation",
    ],
    ["key of an effect", "{ effect: { dealy: 2s } }", "2:17", "delay"],
    ["wire fault", "{ effect: { wire: rest } }", "2:23", "reset"],
    ["unit", "{ effect: { delay: 5 secs } }", "2:24", "5s"],
    ["unit that only ends like one", "{ effect: { delay: 5 sms } }", "2:24", "5s"],
    ["unit of a lease", "{ effect: { status: 503 }, lease: { ttl: 10min } }", "2:46", "10m"],
    ["unit of a percentile", "{ effect: { delay: { p50: 5 millis, p99: 1s } } }", "2:31", "5ms"],
    ["phase", "{ effect: { status: 503 }, phase: affter }", "2:39", "after"],
    ["glob of operations", "{ match: { operation: filez.* }, effect: { status: 503 } }", "2:27", "files.*"],
    ["glob of events", "{ match: { event: usr.* }, effect: { status: 503 } }", "2:23", "user.*"],
    ["path", "{ match: { path: /v1/modelz }, effect: { status: 503 } }", "2:22", "/v1/models"],
    ["path that would only fail", "{ match: { path: /v1/modelz }, sequence: [503] }", "2:22", "/v1/models"],
    [
      "path with an id in it",
      "{ match: { path: /v1/thread/thread_a }, effect: { status: 503 } }",
      "2:22",
      "/v1/threads/thread_a",
    ],
    [
      "glob of paths that can never apply",
      "{ match: { path: /v1/thread/* }, phase: after, effect: { status: 503 } }",
      "2:22",
      "/v1/threads/*",
    ],
    [
      "path without its version",
      "{ match: { path: /models }, effect: { status: 503 } }",
      "2:22",
      "/v1/models",
    ],
    ["method", "{ match: { method: DELTE }, effect: { status: 503 } }", "2:24", "DELETE"],
  ])(
    "an unknown %s is refused with its place and the nearest right word [interfaces 6]",
    (_what, text, place, hint) => {
      const [first] = checkRuleText(text);
      expect(first).toMatch(new RegExp(`^s\\.yaml:${place}: `));
      expect(first).toContain(`(did you mean "${hint}"?)`);
    },
  );

  it.each([
    ["two schedules", "{ times: 1, every: 2, effect: { status: 503 } }", "`every` cannot go with `times`"],
    ["no effect", "{ match: { operation: threads.delete } }", "needs an `effect`"],
    ["an empty effect", "{ effect: {} }", "needs an `effect`"],
    ["error and status", "{ effect: { error: RATE_LIMIT_EXCEEDED, status: 500 } }", "cannot go with `error`"],
    ["sequence and status", "{ sequence: [503], effect: { status: 500 } }", "is already set by the entries"],
    ["headers without an answer", "{ effect: { headers: { a: b }, delay: 1s } }", "goes with an answer only"],
    [
      "framing headers",
      "{ effect: { status: 503, headers: { Content-Length: 3 } } }",
      "belongs to the connection",
    ],
    [
      "a header value that is too long",
      `{ effect: { status: 503, headers: { a: ${"b".repeat(4097)} } } }`,
      "is longer than 4096 characters",
    ],
    [
      "a header name that is too long",
      `{ effect: { status: 503, headers: { ${"a".repeat(201)}: b } } }`,
      "is longer than 200 characters",
    ],
    ["header injection", '{ effect: { status: 503, headers: { a: "b\\r\\nc: d" } } }', "cannot carry"],
    [
      "an unanswered code",
      "{ match: { operation: threads.delete }, effect: { error: SESSION_NOT_FOUND } }",
      "threads.delete never answers SESSION_NOT_FOUND",
    ],
    [
      "a code none answers",
      "{ match: { operation: threads.* }, effect: { error: METHOD_NOT_ALLOWED } }",
      "never answers METHOD_NOT_ALLOWED",
    ],
    ["p99 below p50", "{ effect: { delay: { p50: 1s, p99: 10ms } } }", "must not be below p50"],
    ["half a distribution", "{ effect: { delay: { p50: 1s } } }", "p99"],
    ["an endless delay", "{ effect: { delay: 2d } }", "at most 1h"],
    ["over without drip", "{ effect: { wire: reset, over: 1s } }", "goes with `wire: drip` only"],
    ["a status out of range", "{ effect: { status: 99 } }", "status"],
    ["a probability out of range", "{ probability: 1.5, effect: { status: 503 } }", "probability"],
    [
      "event and operation",
      "{ match: { event: user.created, operation: threads.delete }, effect: { status: 503 } }",
      "is about requests",
    ],
    [
      "a code for a delivery",
      "{ match: { event: user.created }, effect: { error: RATE_LIMIT_EXCEEDED } }",
      "status, delay, hold or wire",
    ],
    [
      "a phase for a delivery",
      "{ match: { event: user.created }, phase: after, effect: { status: 503 } }",
      "s.yaml:2:46: a delivery has one phase",
    ],
    [
      "a path that is not a pattern",
      "{ match: { path: '/v1/[a' }, effect: { status: 503 } }",
      "cannot be used",
    ],
    [
      "an endless path",
      `{ match: { path: /${"*a".repeat(200)} }, effect: { status: 503 } }`,
      "256 characters",
    ],
    [
      "a path with its query",
      "{ match: { path: '/v1/models?limit=1' }, effect: { status: 503 } }",
      "path contains a query",
    ],
    [
      "a path with its prefix",
      "{ match: { path: /_s/ci/v1/models }, effect: { status: 503 } }",
      "has no host, sandbox prefix",
    ],
    [
      "a key in place of its id",
      "{ match: { api_key: ak_danMemberAcme00000000000000000000000000 }, effect: { status: 503 } }",
      "by its id",
    ],
    ["a body where there is none", "{ effect: { status: 204, body: { a: 1 } } }", "has no body"],
    ["a body of a 205", "{ effect: { status: 205, body: { a: 1 } } }", "has no body"],
    ["a wire fault in a sequence", "{ sequence: [reset] }", "belongs in `effect: { wire: … }`"],
    [
      "a glob that matches nothing",
      '{ match: { operation: "nothing.*" }, effect: { status: 503 } }',
      "matches no operation",
    ],
    [
      "operation and method apart",
      "{ match: { operation: threads.delete, method: POST }, effect: { status: 503 } }",
      "no operation fits",
    ],
    [
      "a glob of paths of one's own with a phase",
      "{ match: { path: '/v1/nosuch/*' }, phase: after, effect: { status: 503 } }",
      '"/v1/nosuch/*" matches no path of an operation; a rule for a path of your own has neither `operation` nor `phase: after`',
    ],
    [
      "a glob of paths of one's own with an operation",
      "{ match: { path: '/v1/{no,such}/**', operation: '*' }, effect: { delay: 1s } }",
      "matches no path of an operation",
    ],
    [
      "operation and glob of paths apart",
      "{ match: { operation: threads.delete, path: '/v1/models*' }, effect: { status: 503 } }",
      "no operation fits `operation`, `method` and `path` together",
    ],
    [
      "a code that none of the glob's operations answers",
      "{ match: { path: '/v1/threads/*' }, effect: { error: DEPARTMENT_CYCLE_DETECTED } }",
      "threads.delete never answers DEPARTMENT_CYCLE_DETECTED",
    ],
    ["a broken glob", '{ match: { operation: "threads.{" }, effect: { status: 503 } }', "never closed"],
    [
      "a path with a host",
      '{ match: { path: "http://x/v1" }, effect: { status: 503 } }',
      "begins with a slash",
    ],
    [
      "an id twice",
      "{ id: a, effect: { status: 503 } }\n  - { id: a, effect: { status: 503 } }",
      "called a already",
    ],
    ["a prototype", "{ match: { body: { __proto__: {} } }, effect: { status: 503 } }", "__proto__"],
  ])("%s is refused [interfaces 6]", (_what, text, message) => {
    expect(checkRuleText(text).join("\n")).toContain(message);
  });

  it("a file whose name no scenario can have is refused, unless it names itself [interfaces 6]", () => {
    const read = (text: string) => () =>
      readScenario({ text, displayName: "s.yaml", file: "/my world!.yaml" }, API);
    expect(read("rules: []\n")).toThrow("cannot be the name of a scenario; set one with `name:`");
    expect(read("name: mine\nrules: []\n")().name).toBe("mine");
  });

  it.each([
    "{ match: { operation: threads.delete }, effect: { error: SESSION_NOT_FOUND! } }",
    "{ effect: { error: METHOD_NOT_ALLOWED! } }",
    "{ match: { path: /v1/beta/tools }, sequence: [pass, 503] }",
    "{ match: { path: /v1/tools }, effect: { status: 503 } }",
    "{ match: { path: /v1/roles }, effect: { error: RATE_LIMIT_EXCEEDED } }",
    "{ match: { path: /v2/threads/thread_a }, effect: { status: 503 } }",
    "{ match: { path: /v1/organizations/org_acme }, effect: { status: 503 } }",
    "{ match: { path: /v1/organizations/org_acme/users }, effect: { status: 503 } }",
    "{ match: { path: /v1/models/tools }, sequence: [503, pass] }",
    "{ match: { path: /v1/modelz }, effect: { status: 503, body: down } }",
    "{ match: { path: '/v1/nosuch/*' }, effect: { status: 503 } }",
    "{ match: { path: '/v1/thr*/{id}' }, phase: after, effect: { status: 503 } }",
    "{ match: { path: '**/thread_a' }, phase: after, effect: { status: 503 } }",
    "{ match: { operation: '*' }, effect: { error: DEPARTMENT_CYCLE_DETECTED } }",
    "{ match: { method: POST, path: '/v1/organizations/*/departments/*/reparent' }, effect: { error: DEPARTMENT_CYCLE_DETECTED } }",
    "{ match: { operation: threads.delete }, effect: { error: INTERNAL_ERROR } }",
    "{ match: { event: '*' }, effect: { status: 410, delay: 1s } }",
    "{ match: { webhook: wh_a }, effect: { wire: hang } }",
    "{ effect: { status: 200, body: { a: 1 }, headers: { X-A: 1 } } }",
    "{ effect: { delay: PT5S } }",
    "{ effect: { delay: 1500 } }",
    "{ effect: { wire: drip, over: 5s, status: 500 } }",
    "{ probability: 0, effect: { status: 503 } }",
  ])("accepts %s [interfaces 6]", (text) => {
    expect(checkRuleText(text)).toEqual([]);
  });

  it("a path without wildcards limits the operations for which its code is checked [interfaces 6]", () => {
    const text = "{ match: { path: /v1/threads/thread_a }, effect: { error: DEPARTMENT_CYCLE_DETECTED } }";
    expect(checkRuleText(text).join()).toContain("threads.delete never answers DEPARTMENT_CYCLE_DETECTED");
  });

  it("bombs and nonsense are refused quickly and with a message [interfaces 6]", () => {
    const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${"bcdefghij"
      .split("")
      .map((c, i) => `${c}: &${c} [${`*${"abcdefghi"[i]},`.repeat(9)}]`)
      .join("\n")}\nrules: []`;
    for (const text of [
      bomb,
      "[".repeat(5000),
      "rules: 3",
      "",
      "- a",
      "rules: [{effect: {status: [1]}}]",
      "\0",
    ]) {
      expect(listProblems(text).length).toBeGreaterThan(0);
    }
    expect(listProblems(`rules: [${"{effect: {status: 503}},".repeat(20_000)}]`).length).toBeGreaterThan(0);
    expect(listProblems("x".repeat(3 * 1024 * 1024)).join()).toContain("larger than 2 MB");
  });

  it("several mistakes are reported at once, each at its own line [interfaces 6]", () => {
    const text =
      "rules:\n  - match: { operation: threads.delte }\n    effect: { error: NOPE }\n  - sequence: [903]\n";
    const found = listProblems(text);
    expect(found.length).toBeGreaterThanOrEqual(1);
    const fixed = text.replace("903", "503");
    expect(listProblems(fixed).map((problem) => problem.split(":")[1])).toEqual(["2", "3"]);
  });

  it.each([
    ["operation", "{ operation: threads.delte }", "threads.delete"],
    ["glob of operations", "{ operation: thread.* }", "threads.*"],
    ["code", "{ code: INVALID_INPT }", "INVALID_INPUT"],
    ["method", "{ method: delete }", "DELETE"],
  ])(
    "an unknown %s in expect: is refused with its place and the nearest word [interfaces 6]",
    (_what, match, hint) => {
      const [first] = listProblems(`rules: []\nexpect:\n  - match: ${match}\n    count: 0\n`);
      expect(first).toMatch(/^s\.yaml:3:\d+: /);
      expect(first).toContain(`(did you mean "${hint}"?)`);
    },
  );

  it.each([
    ["a status that there is not", "match: { status: 999 }", "at most 599"],
    ["a class of statuses that there is not", "match: { status: 9xx }", "a status such as 404"],
    ["a path that is not a pattern", "match: { path: '/v1/[a' }", "cannot be used"],
    ["a min above its max", "match: { status: 404 }\n    count: { min: 2, max: 1 }", "must not be above"],
  ])("expect: is refused for %s [interfaces 6]", (_what, text, said) => {
    expect(listProblems(`rules: []\nexpect:\n  - ${text}\n`)[0]).toContain(said);
  });

  it("expect: accepts every match that a journal entry can meet [interfaces 6]", () => {
    const matches = ["{ status: 4xx }", "{ code: HTTP_503 }", "{ code: RATE_LIMIT_EXCEEDED, method: POST }"];
    for (const match of matches)
      expect(listProblems(`rules: []\nexpect:\n  - match: ${match}\n`)).toEqual([]);
  });
});

it.each([
  ["creatNote*", ["createNote", "listNotes"], "createNote"],
  ["fil.*", ["createNote", "files.create"], "files.*"],
])("the hint for the glob %s matches one of the names %j [interfaces 6]", (pattern, names, hint) => {
  expect(findPatternProblem(pattern, "operation", names)).toMatchObject({ hint });
});
