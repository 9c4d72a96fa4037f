import { describe, expect, it } from "vitest";
import { API } from "../../engine/resources/index.ts";
import type { JournalEntry } from "../../engine/sandbox/journal-entry.ts";
import { type EntryMatch, findBodyDifference, type MatchableWords } from "./match-entry.ts";
import { type Count, createCountVerifier, createSequenceVerifier } from "./verify-journal.ts";

const KNOWN: MatchableWords = {
  api: API,
  sandboxWords: {
    users: new Set(["usr_dan", "usr_ada"]),
    webhooks: new Set(["wh_ops"]),
    paths: new Set(["/v1/nowhere"]),
    methods: new Set(),
    stages: new Set(),
  },
};

/** An entry from text such as `models.list 200`, and further fields. */
function makeEntry(sequence: number, line: string, more: object = {}): JournalEntry {
  const [operation, status] = line.split(" ");
  return {
    ...{ id: `req_${sequence}`, sequence, at: Date.parse("2026-03-15T12:00:00Z") + sequence },
    ...{ operation, status: Number(status), method: "GET", path: `/v1/${operation}`, code: null },
    ...{ principal: "usr_dan", request_headers: [], request_body: undefined, delivery: undefined },
    ...more,
  } as unknown as JournalEntry;
}
const makeJournal = (...lines: string[]) => lines.map((line, i) => makeEntry(i + 1, line));
const verifyCount = (match: EntryMatch, count: Count, entries: readonly JournalEntry[]) =>
  createCountVerifier({ match, count }, KNOWN)(entries);
const verifySequence = (steps: string[], entries: readonly JournalEntry[], strict = false) =>
  createSequenceVerifier({ sequence: steps.map((operation) => ({ operation })), strict }, KNOWN)(entries);
const delivery = { event: "user.created", webhook_id: "wh_ops", attempt: 2 };

describe("verify of a number of requests", () => {
  const three = makeJournal("models.list 200", "models.list 404", "threads.delete 200");

  it.each<[Count, boolean, boolean]>([
    [2, true, false],
    [3, false, false],
    [1, false, true],
    [{ min: 2 }, true, false],
    [{ min: 3 }, false, false],
    [{ max: 2 }, true, false],
    [{ max: 1 }, false, true],
    [{ min: 1, max: 3 }, true, false],
  ])("answers, for two requests and the count %j: %j [interfaces 4]", (count, ok, hopeless) => {
    const found = verifyCount({ operation: "models.list" }, count, three);
    expect([found.ok, found.found, found.hopeless ?? false]).toEqual([ok, 2, hopeless]);
    // The nearest entries help only if too few requests were found.
    expect(found.nearest.length).toBe(ok || hopeless ? 0 : 1);
  });

  it("lists the nearest entries first: a wrong operation, path or event outweighs three other differences [interfaces 4]", () => {
    const entries = [
      makeEntry(1, "threads.delete 200"),
      makeEntry(2, "webhooks.list 500", { code: "HTTP_500" }),
      makeEntry(3, "webhooks.list 500", { code: "HTTP_500" }),
      makeEntry(4, "webhooks.list 200", { code: null }),
      makeEntry(5, "threads.delete 404", {
        code: "RESOURCE_NOT_FOUND",
        method: "DELETE",
        principal: "usr_ada",
      }),
      makeEntry(6, "threads.delete 200", { delivery }),
    ];
    const match = { operation: "webhooks.*", status: 404, code: "RESOURCE_NOT_FOUND", method: "delete" };
    const { nearest } = verifyCount({ ...match, principal: "usr_ada" }, 1, entries);
    // First the entry with one difference that counts three, then those with four, newest first, then the one with six.
    expect(nearest.map(({ id }) => id)).toEqual(["req_5", "req_4", "req_3", "req_2", "req_1"]);
    expect(nearest[0]).toEqual({
      ...{ id: "req_5", at: "2026-03-15T12:00:00.005Z", operation: "threads.delete", method: "GET" },
      ...{ method: "DELETE", path: "/v1/threads.delete", status: 404 },
      differences: ["operation is threads.delete, not webhooks.*"],
    });
    expect(nearest[1]!.differences).toEqual([
      "method is GET, not DELETE",
      "status is 200, not 404",
      "code is none, not RESOURCE_NOT_FOUND",
      "principal is usr_dan, not usr_ada",
    ]);
  });

  it("lists at most five entries [interfaces 4]", () => {
    const many = makeJournal(...Array.from({ length: 9 }, () => "models.list 200"));
    const { nearest } = verifyCount({ operation: "threads.delete" }, 1, many);
    expect(nearest.map(({ id }) => id)).toEqual(["req_9", "req_8", "req_7", "req_6", "req_5"]);
  });

  it.each<[EntryMatch, object, string[]]>([
    [{ event: "user.*", webhook: "wh_ops", attempt: 2 }, { delivery }, []],
    [{ event: "user.updated" }, { delivery }, ["event is user.created, not user.updated"]],
    [
      { webhook: "wh_ops" },
      { delivery: { ...delivery, webhook_id: "wh_2" } },
      ["webhook is wh_2, not wh_ops"],
    ],
    [{ attempt: 1 }, { delivery }, ["attempt is 2, not 1"]],
    [{ status: "2XX" }, { status: 299 }, []],
    [{ status: "2xx" }, { status: 300 }, ["status is 300, not 2xx"]],
    [{ status: "404" }, { status: 404 }, []],
    [{ code: "HTTP_503" }, { code: "HTTP_503" }, []],
    [{ path: "/v1/**" }, { path: "/v1/a/b" }, []],
    [{ path: "/v1/nowhere" }, { path: "/v1/a" }, ["path is /v1/a, not /v1/nowhere"]],
    [{ operation: "models.*" }, { operation: null }, ["operation is none, not models.*"]],
    [{ body: { a: 1 } }, { request_body: Buffer.from('{"a":1,"b":2}') }, []],
    [{ body: { a: 1 } }, { request_body: Buffer.from("a=1") }, ["body is missing, not an object"]],
    [{ body: { a: 1 } }, { request_body: undefined }, ["body is missing, not an object"]],
  ])(
    "compares the match %j with the entry %j and lists the differences [interfaces 14]",
    (match, more, differences) => {
      const { ok, nearest } = verifyCount(match, 1, [makeEntry(1, "models.list 200", more)]);
      expect([ok, nearest[0]?.differences ?? []]).toEqual([differences.length === 0, differences]);
    },
  );

  it("never lists a request for a delivery's match, or a delivery for a request's [interfaces 14]", () => {
    expect(verifyCount({ attempt: 1 }, 1, makeJournal("models.list 200")).nearest).toEqual([]);
    expect(verifyCount({ status: 404 }, 1, [makeEntry(1, "models.list 200", { delivery })]).nearest).toEqual(
      [],
    );
  });
});

describe("verify of a sequence", () => {
  const [M, D, R] = ["models.list", "threads.delete", "departments.reparent"];
  const makeOperations = (...operations: string[]) =>
    makeJournal(...operations.map((operation) => `${operation} 200`));

  it.each<[string[], string[], boolean, string | undefined]>([
    [[M, D], [M, D], true, undefined],
    [[M, D], [M, R, D], true, undefined],
    [[M, D], [M, M, D], true, undefined],
    [[M, M, D], [M, M, M, D], true, undefined],
    [[D, M], [M, D], true, "step 2 of 2 is missing: it matches no entry after req_2"],
    [[D], [M], true, "step 1 of 1 is missing: it matches no entry"],
    [[M, D, M], [M, D], true, "step 3 of 3 is missing: it matches no entry after req_2"],
    [
      [M, D, M],
      [M, D, D, M],
      true,
      "step 3 of 3 is missing: req_2 is followed by req_3, which it does not match",
    ],
  ])("answers, if strict, %j for %j [interfaces 11]", (steps, operations, strict, why) => {
    const found = verifySequence(steps, makeOperations(...operations), strict);
    expect([found.ok, found.why]).toEqual([why === undefined, why]);
    if (why === undefined) expect(found).toEqual({ ok: true, found: steps.length, nearest: [] });
  });

  it("allows other entries in between unless it is strict, and the reason names none of them [interfaces 11]", () => {
    expect(verifySequence([M, D, M], makeOperations(M, D, D, M))).toEqual({
      ok: true,
      found: 3,
      nearest: [],
    });
    expect(verifySequence([M, D, R], makeOperations(M, D, D, M))).toMatchObject({
      ...{ ok: false, found: 2 },
      why: "step 3 of 3 is missing: it matches no entry after req_2",
    });
  });

  it("searches the nearest entries only after the previous step [interfaces 11]", () => {
    const { nearest } = verifySequence([M, D], makeOperations(R, M, R));
    expect(nearest.map(({ id }) => id)).toEqual(["req_3"]);
  });

  it("names the step in which a problem is [interfaces 4]", () => {
    expect(() => verifySequence([M, "zzz"], [])).toThrow('sequence[1].operation "zzz" matches no operation');
    expect(() => verifyCount({ operation: "zzz" }, 1, [])).toThrow(
      'match.operation "zzz" matches no operation',
    );
  });
});

it.each<[unknown, unknown, string | undefined]>([
  [1, 1, undefined],
  [1, 2, "body is 2, not 1"],
  [[1, 2], [1, 2], undefined],
  [[1], [1, 2], "body is [1,2], not [1]"],
  [null, null, undefined],
  [null, undefined, "body is missing, not null"],
  [{}, {}, undefined],
  [{}, [], "body is [], not an object"],
  [{}, null, "body is null, not an object"],
  [{}, "x", 'body is "x", not an object'],
  [{ a: { b: 1 } }, { a: { b: 1, c: 2 } }, undefined],
  [{ a: { b: 1 } }, { a: { b: 2 } }, "body.a.b is 2, not 1"],
  [{ a: 1 }, {}, "body.a is missing, not 1"],
  [{ toString: undefined }, {}, undefined],
  [{ password: "a" }, { password: "b" }, 'body.password is "***", not "***"'],
  [{ a: "x" }, { a: "y".repeat(78) }, `body.a is "${"y".repeat(78)}", not "x"`],
  [{ a: "x" }, { a: "y".repeat(79) }, `body.a is "${"y".repeat(78)}…, not "x"`],
])("the wanted body %j is compared with the received body %j [interfaces 4]", (wanted, found, difference) => {
  expect(findBodyDifference(wanted, found)).toBe(difference);
});
