import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { type ComparedAnswer, compareAnswers } from "./answer-differences.ts";

const answer = (more: Partial<ComparedAnswer> & { body?: unknown } = {}): ComparedAnswer => {
  const { body, ...others } = more;
  return {
    ...{ id: "req_1", status: 200, response_headers: [], streamed: undefined },
    response_body: body === undefined ? undefined : JSON.stringify(body),
    ...others,
  };
};
const compareFields = (first: Parameters<typeof answer>[0], second: Parameters<typeof answer>[0]) =>
  compareAnswers(answer(first), answer({ id: "req_2", ...second }));

describe("the comparison with the answer to a repeated request", () => {
  it("ignores the request's id, its duration and the remaining rate [interfaces 10]", () => {
    const makeHeaders = (id: string, rest: string) => [
      ...["X-Request-Id", id, "Date", rest, "service-processing-ms", rest, "Connection", rest],
      ...["keep-alive", rest, "Content-Length", rest, "X-RateLimit-Remaining", rest],
    ];
    const first = { body: { trace_id: "req_1" }, response_headers: makeHeaders("req_1", "9") };
    const second = { body: { trace_id: "req_2" }, response_headers: makeHeaders("req_2", "8") };
    expect(compareFields(first, second)).toEqual([]);
    // Only whole names pass.
    const makeOddHeaders = (value: string) => ({ response_headers: ["update", value, "dates", value] });
    expect(compareFields(makeOddHeaders("a"), makeOddHeaders("b")).map(({ what }) => what)).toEqual([
      "header update",
      "header dates",
    ]);
  });

  it("lists status and headers, null for a missing one, with secrets masked [interfaces 10]", () => {
    const first = { status: 200, response_headers: ["ETag", "a", "Set-Cookie", "s=1"] };
    const second = { status: 404, response_headers: ["etag", "b", "Location", "/x"] };
    expect(compareFields(first, second)).toEqual([
      { what: "status", before: 200, after: 404 },
      { what: "header etag", before: "a", after: "b" },
      { what: "header set-cookie", before: "***", after: null },
      { what: "header location", before: null, after: "/x" },
    ]);
  });

  it("compares each value of a repeated header, and the content of a compressed body [interfaces 10]", () => {
    const cookies = (...values: string[]) => values.flatMap((value) => ["Set-Cookie", value]);
    expect(
      compareFields({ response_headers: cookies("a=1", "b=1") }, { response_headers: cookies("a=2", "b=1") }),
    ).toEqual([{ what: "header set-cookie", before: "***", after: "***" }]);
    const compressed = (value: object) => ({
      response_headers: ["Content-Encoding", "gzip"],
      response_body: new Uint8Array(gzipSync(JSON.stringify(value))),
    });
    expect(compareFields(compressed({ id: "req_1", a: 1 }), compressed({ id: "req_2", a: 2 }))).toEqual([
      { what: "body.a", before: 1, after: 2 },
    ]);
  });

  it.each<[unknown, unknown, object[]]>([
    [{ a: 1 }, { a: 1 }, []],
    [{ a: 1 }, { a: 2 }, [{ what: "body.a", before: 1, after: 2 }]],
    [{ a: 1 }, {}, [{ what: "body.a", before: 1, after: null }]],
    [{}, { a: 1 }, [{ what: "body.a", before: null, after: 1 }]],
    [
      { a: [1, 2] },
      { a: [1, 3, 4] },
      [
        { what: "body.a[1]", before: 2, after: 3 },
        { what: "body.a[2]", before: null, after: 4 },
      ],
    ],
    [{ a: [{ b: 1 }] }, { a: [{ b: 2 }] }, [{ what: "body.a[0].b", before: 1, after: 2 }]],
    [[], {}, [{ what: "body", before: [], after: {} }]],
    [null, {}, [{ what: "body", before: null, after: {} }]],
    [{ a: {} }, { a: 1 }, [{ what: "body.a", before: {}, after: 1 }]],
    [{ constructor: 1 }, {}, [{ what: "body.constructor", before: 1, after: null }]],
    [{ password: "a" }, { password: "b" }, [{ what: "body.password", before: "***", after: "***" }]],
  ])("lists the differences of the bodies %j and %j [interfaces 10]", (was, is, differences) => {
    expect(compareFields({ body: was }, { body: is })).toEqual(differences);
  });

  it("ignores the time that an answer states for itself [interfaces 10]", () => {
    const state = (name: string, timestamp: string) => ({ body: { [name]: { timestamp } } });
    const failed = { status: 404 };
    expect(
      compareFields({ ...state("error", "a"), ...failed }, { ...state("error", "b"), ...failed }),
    ).toEqual([]);
    expect(compareFields(state("metadata", "a"), state("metadata", "b"))).toEqual([]);
    expect(compareFields(state("data", "a"), state("data", "b"))).toHaveLength(1);
  });

  it("compares texts, digests of streams, and missing bodies [interfaces 10]", () => {
    const makeText = (response_body: string | undefined) => ({ response_body });
    expect(compareFields(makeText("a,b"), makeText("a,c"))).toEqual([
      { what: "body", before: "a,b", after: "a,c" },
    ]);
    expect(compareFields(makeText('{"password":"a'), makeText('{"password":"b'))).toEqual([
      { what: "body", before: '{"password":"***"', after: '{"password":"***"' },
    ]);
    expect(compareFields(makeText(""), makeText(undefined))).toEqual([]);
    expect(compareFields(makeText("a"), makeText(undefined))).toEqual([
      { what: "body", before: "a", after: null },
    ]);
    const stream = (sha256: string) => ({ streamed: { bytes: 1, sha256 }, response_body: "kept" });
    expect(compareFields(stream("x"), stream("x"))).toEqual([]);
    expect(compareFields(stream("x"), stream("y"))).toEqual([{ what: "body", before: "x", after: "y" }]);
    expect(compareFields({ ...stream("x"), streamed: "cut" }, { ...stream("x"), streamed: "cut" })).toEqual(
      [],
    );
  });

  it("stops after a hundred differences [interfaces 10]", () => {
    const body = (value: number) =>
      Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`f${i}`, value]));
    const found = compareFields({ body: body(1) }, { status: 500, body: body(2) });
    expect([found.length, found[0]!.what, found.at(-1)!.what]).toEqual([100, "status", "body.f98"]);
  });
});
