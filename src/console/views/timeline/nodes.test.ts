import { describe, expect, it } from "vitest";
import type { HistoryEntry, RequestLine } from "../../../../types/control-api.ts";
import type { TimelineData } from "../../live/timeline-data.ts";
import { createFilter } from "./filter.ts";
import {
  buildNodes,
  EMPTY_CACHE,
  findNode,
  listCausalRows,
  type Node,
  orderByTime,
  toOutcome,
  updateNodes,
} from "./nodes.ts";

const AT = "2026-03-15T12:00:00.000Z";

const makeLine = (sequence: number, more: Partial<RequestLine> = {}): RequestLine => ({
  id: `req_${sequence}`,
  seq: sequence,
  sequence,
  at: AT,
  operation: "models.list",
  method: "GET",
  path: "/v1/models",
  query: "",
  status: 200,
  code: null,
  duration_ms: 1,
  principal: "usr_dan",
  decision: "ok",
  history: null,
  why: null,
  warnings: 0,
  ...more,
});

const makeEntry = (sequence: number, more: Partial<HistoryEntry> = {}): HistoryEntry => ({
  id: `h_${sequence}`,
  seq: sequence,
  sequence,
  at: AT,
  kind: "timer",
  title: "",
  subject: null,
  cause: null,
  advanced_by: null,
  request: null,
  journal_position: 0,
  delivered: null,
  changes: {},
  undone: false,
  kept: true,
  ...more,
});

const listSeqs = (nodes: readonly Node[]) => nodes.map(({ seq }) => seq);
const matchAll = () => true;
const attempts: TimelineData["attempts"] = new Map();

describe("buildNodes", () => {
  it("orders requests and history entries by seq, a request with its change as one node [interfaces 10]", () => {
    const requests = [makeLine(1), makeLine(3, { history: "h_3" }), makeLine(5)];
    const history = [makeEntry(2), makeEntry(3, { kind: "request", request: "req_3" }), makeEntry(4)];
    const nodes = buildNodes({ requests, history, attempts });
    expect(listSeqs(nodes)).toEqual([1, 2, 3, 4, 5]);
    expect(nodes[2]).toMatchObject({ request: requests[1], entry: history[1] });
    expect(nodes.map(({ order }) => order)).toEqual([0, 1, 2, 3, 4]);
  });

  it("places a request before its effects, also if other requests finished first [interfaces 10]", () => {
    const requests = [makeLine(7), makeLine(5, { history: "h_5" })];
    const history = [
      makeEntry(5, { kind: "request", request: "req_5" }),
      makeEntry(6, { kind: "delivery", cause: "h_5" }),
    ];
    expect(listSeqs(buildNodes({ requests, history, attempts }))).toEqual([5, 6, 7]);
  });

  it("keeps requests apart whose ids repeat after a rewind [interfaces 10]", () => {
    const requests = [makeLine(1), makeLine(2, { history: "h_2" }), makeLine(4, { id: "req_1" })];
    const history = [makeEntry(2, { request: "req_2", undone: true }), makeEntry(3, { kind: "restore" })];
    expect(listSeqs(buildNodes({ requests, history, attempts }))).toEqual([1, 2, 3, 4]);
  });
});

describe("updateNodes", () => {
  it("gives the same nodes as a full build, and keeps unchanged ones", () => {
    const requests: RequestLine[] = [];
    const history: HistoryEntry[] = [];
    let cache = EMPTY_CACHE;
    for (let batch = 0; batch < 5; batch += 1) {
      for (let one = 0; one < 20; one += 1) {
        const seq = requests.length + 1;
        const cause = seq % 10 === 0 ? `h_${seq - 5}` : null;
        requests.push(makeLine(seq));
        if (seq % 5 === 0) history.push(makeEntry(seq, { kind: "request", request: `req_${seq}`, cause }));
      }
      // The last entries arrive with the next batch.
      const lists = { requests: [...requests], history: history.slice(0, -2), attempts };
      const before = cache;
      cache = updateNodes(before, lists);
      expect(cache.nodes).toEqual(buildNodes(lists));
      if (batch > 0) expect(cache.nodes[0]).toBe(before.nodes[0]);
    }
    // Without the oldest request, everything is rebuilt.
    const evicted = { requests: requests.slice(1), history, attempts };
    expect(updateNodes(cache, evicted).nodes).toEqual(buildNodes(evicted));
    // An entry that is sent again, for example as undone, replaces the old one.
    const resent = history.map((one) => (one.id === "h_5" ? { ...one, undone: true } : one));
    const after = updateNodes(cache, { requests, history: resent, attempts });
    expect(after.nodes).toEqual(buildNodes({ requests, history: resent, attempts }));
    expect(after.nodes[4]!.entry!.undone).toBe(true);
  });
});

describe("findNode", () => {
  const requests = [makeLine(1), makeLine(2, { history: "h_2" }), makeLine(4, { id: "req_1" })];
  const nodes = buildNodes({
    requests,
    history: [makeEntry(2, { request: "req_2" }), makeEntry(3)],
    attempts,
  });

  it.each([
    ["1", 1],
    ["req_1", 4],
    ["h_2", 2],
    ["req_0000", undefined],
    ["5", undefined],
  ])("finds %s by seq, or the newest by id", (address, seq) => {
    expect(findNode(nodes, address)?.seq).toBe(seq);
  });
});

describe("listCausalRows", () => {
  const requests = [makeLine(1, { history: "h_1" }), makeLine(3)];
  const history = [
    makeEntry(1, { kind: "request", request: "req_1" }),
    makeEntry(2, { kind: "delivery", cause: "h_1" }),
    makeEntry(4, { kind: "control" }),
    makeEntry(5, { kind: "delivery", cause: "h_2", advanced_by: "h_4" }),
    makeEntry(6, { cause: "h_1" }),
    makeEntry(7, { cause: "h_lost", advanced_by: "h_4" }),
  ];
  const nodes = buildNodes({ requests, history, attempts });

  it("lists effects below their cause in order, newest root cause first [interfaces 10]", () => {
    const rows = listCausalRows(nodes, matchAll).map(({ seq, level }) => `${level} ${seq}`);
    expect(rows).toEqual(["0 4", "1 7", "0 3", "0 1", "1 2", "2 5", "1 6"]);
  });

  it("keeps the causes of matching entries [interfaces 10]", () => {
    expect(listSeqs(listCausalRows(nodes, ({ seq }) => seq === 5))).toEqual([1, 2, 5]);
    expect(listCausalRows(nodes, () => false)).toEqual([]);
  });
});

describe("orderByTime", () => {
  it("places a slow call where it started, and nothing across a rewind [interfaces 10]", () => {
    const makeInstant = (minute: number) => ({ at: `2026-03-15T12:0${minute}:00.000Z` });
    const requests = [
      makeLine(1, makeInstant(1)),
      makeLine(2, makeInstant(3)),
      makeLine(3, makeInstant(2)),
      makeLine(5, makeInstant(1)),
      makeLine(6, makeInstant(0)),
    ];
    const nodes = buildNodes({
      requests,
      history: [makeEntry(4, { kind: "restore", ...makeInstant(0) })],
      attempts,
    });
    expect(listSeqs(orderByTime(nodes))).toEqual([1, 3, 2, 4, 6, 5]);
  });

  it("places a call before the advance during which it was held [interfaces 10]", () => {
    const history = [makeEntry(1, { kind: "control", operation: "clock.advance" })];
    const nodes = buildNodes({ requests: [makeLine(2)], history, attempts });
    expect(listSeqs(orderByTime(nodes))).toEqual([2, 1]);
  });
});

describe("toOutcome", () => {
  it.each([
    [{ status: 200 }, "ok"],
    [{ status: 404 }, "refused"],
    [{ status: 503 }, "failed"],
    [{ status: 0 }, "failed"],
    [{ status: 503, fault: { by: "inline/one", delay_ms: 0, replaced: "response" } }, "fault"],
    [{ status: 0, fault: { by: "inline/one", delay_ms: 0, replaced: "connection" } }, "fault"],
    // The decision names the rule although the answer is the operation's own.
    [
      {
        status: 200,
        decision: "fault:slow/one",
        fault: { by: "slow/one", delay_ms: 9, replaced: "nothing" },
      },
      "delayed",
    ],
    [{ status: 404, fault: { by: "slow/one", delay_ms: 9, replaced: "nothing" } }, "refused"],
  ] as [Partial<RequestLine>, string][])("maps %o to %s", (given, outcome) => {
    const request = makeLine(1, given);
    expect(toOutcome({ request, entry: undefined, fault: request.fault })).toBe(outcome);
  });

  it.each<[Partial<HistoryEntry>, string]>([
    [{ delivered: true }, "ok"],
    [{ delivered: false }, "failed"],
    [{ delivered: null }, "other"],
    [{ kind: "restore" }, "rewind"],
  ])("maps an entry with %o to %s", (given, outcome) => {
    expect(toOutcome({ request: undefined, entry: makeEntry(1, given), fault: undefined })).toBe(outcome);
  });

  it("updates an attempt's fault, which arrives in a later message", () => {
    const lists = {
      requests: [makeLine(1)],
      history: [makeEntry(2, { kind: "delivery", delivered: false })],
      attempts,
    };
    const early = updateNodes(EMPTY_CACHE, lists);
    expect(early.nodes[1]!.outcome).toBe("failed");
    const fault = { by: "inline/one", delay_ms: 0, replaced: "response" as const };
    const late = new Map([["h_2", { history: "h_2", duration_ms: 5, fault }]]);
    expect(updateNodes(early, { ...lists, attempts: late }).nodes[1]).toMatchObject({
      outcome: "fault",
      durationMs: 5,
    });
  });
});

it.each(["constructor", "__proto__", "toString"])(
  "filters by a word such as %s:x as by any other",
  (field) => {
    const [node] = buildNodes({ requests: [makeLine(1)], history: [], attempts });
    const matches = createFilter({ text: `${field}:x`, outcomes: new Set() } as never);
    expect(matches(node!)).toBe(false);
  },
);
