import { describe, expect, it } from "vitest";
import type { HistoryEntry, RequestLine } from "../../api/types.ts";
import { causalRows, nodesAfter, nodesOf, outcomeOf, type Told } from "./nodes.ts";

const AT = "2026-03-15T12:00:00.000Z";

const line = (sequence: number, more: Partial<RequestLine> = {}): RequestLine => ({
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

const entry = (sequence: number, more: Partial<HistoryEntry> = {}): HistoryEntry => ({
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

const ids = (list: readonly { id: string }[]) => list.map(({ id }) => id);
const all = () => true;

describe("interfaces 10 requests and changes as one sequence", () => {
  it("interfaces 10 a request that changed something is one with its entry, and ties both together", () => {
    const requests = [line(1), line(2, { history: "h_2" }), line(3)];
    const history = [
      entry(1, { journal_position: 1 }),
      entry(2, { kind: "request", request: "req_2", journal_position: 1 }),
      entry(3, { journal_position: 3 }),
    ];
    const nodes = nodesOf({ requests, history });
    expect(ids(nodes)).toEqual(["req_1", "h_1", "req_2", "req_3", "h_3"]);
    expect(nodes[2]!.entry!.id).toBe("h_2");
    expect(nodes.map(({ order }) => order)).toEqual([0, 1, 2, 3, 4]);
  });

  it("interfaces 10 the journal's position decides where nothing ties them, and what is lost is no obstacle", () => {
    const requests = [line(8, { history: "h_gone" }), line(9)];
    const history = [
      entry(1, { request: "req_gone", journal_position: 8 }),
      entry(2, { journal_position: 9 }),
    ];
    expect(ids(nodesOf({ requests, history }))).toEqual(["req_8", "h_1", "req_9", "h_2"]);
  });

  it("interfaces 10 at one instant of a frozen clock, a rule stands before what it struck", () => {
    const struck = line(2, { status: 503, decision: "fault:inline/one" });
    const history = [entry(1, { kind: "scenario", journal_position: 1 })];
    expect(ids(nodesOf({ requests: [line(1), struck], history }))).toEqual(["req_1", "h_1", "req_2"]);
  });

  it("interfaces 10 what a request brought about stands behind it, though others were answered before it", () => {
    const requests = [line(6), line(7, { history: "h_1" })];
    const history = [
      entry(1, { kind: "request", request: "req_7", journal_position: 5 }),
      entry(2, { kind: "delivery", cause: "h_1", journal_position: 5 }),
    ];
    expect(ids(nodesOf({ requests, history }))).toEqual(["req_6", "req_7", "h_2"]);
  });
});

describe("interfaces 10 a long story that goes on", () => {
  it("interfaces 10 gives the same nodes as if told at once, and keeps those that are settled", () => {
    const requests: RequestLine[] = [];
    const history: HistoryEntry[] = [];
    let told: Told | undefined;
    for (let batch = 0; batch < 40; batch += 1) {
      for (let one = 0; one < 150; one += 1) {
        const sequence = requests.length + 1;
        const changed = sequence % 5 === 0;
        requests.push(line(sequence, changed ? { history: `h_${sequence / 5}` } : {}));
        if (changed)
          history.push(
            entry(sequence / 5, {
              kind: "request",
              request: `req_${sequence}`,
              journal_position: sequence - 1,
              cause: sequence % 25 === 0 ? `h_${sequence / 5 - 3}` : null,
            }),
          );
      }
      // The last entries are told with the next batch.
      const story = { requests: [...requests], history: history.slice(0, -2) };
      const before = told;
      told = nodesAfter(before, story);
      expect(told.nodes).toEqual(nodesOf(story));
      if (batch > 20) expect(told.nodes[0]).toBe(before!.nodes[0]);
    }
    // What is told again, such as one that was undone, takes its place.
    const retold = history.map((one) => (one.id === "h_3" ? { ...one, undone: true } : one));
    const after = nodesAfter(told, { requests: [...requests], history: retold });
    expect(after.nodes).toEqual(nodesOf({ requests, history: retold }));
    expect(after.nodes.find((node) => node.entry?.id === "h_3")!.entry!.undone).toBe(true);
  });
});

describe("interfaces 10 causes and effects", () => {
  const requests = [line(1, { history: "h_1" }), line(2)];
  const history = [
    entry(1, { kind: "request", request: "req_1" }),
    entry(2, { kind: "delivery", cause: "h_1" }),
    entry(3, { kind: "control", journal_position: 2 }),
    entry(4, { kind: "delivery", cause: "h_2", advanced_by: "h_3", journal_position: 2 }),
    entry(5, { cause: "h_1", journal_position: 2 }),
    entry(6, { cause: "h_lost", advanced_by: "h_3", journal_position: 2 }),
  ];
  const nodes = nodesOf({ requests, history });

  it("interfaces 10 effects stand below their cause in their order, the newest cause first", () => {
    const rows = causalRows(nodes, all).map(({ id, level }) => `${level} ${id}`);
    expect(rows).toEqual(["0 h_3", "1 h_6", "0 req_2", "0 req_1", "1 h_2", "2 h_4", "1 h_5"]);
  });

  it("interfaces 10 of what a filter leaves, the causes stay", () => {
    expect(ids(causalRows(nodes, ({ id }) => id === "h_4"))).toEqual(["req_1", "h_2", "h_4"]);
    expect(causalRows(nodes, () => false)).toEqual([]);
  });
});

describe("interfaces 10 how it went", () => {
  it.each([
    [{ status: 200 }, "ok"],
    [{ status: 404 }, "refused"],
    [{ status: 503 }, "failed"],
    [{ status: 0 }, "failed"],
    [{ status: 503, decision: "fault:inline/one" }, "fault"],
    [{ status: 200, decision: "fault:slow/one" }, "fault"],
  ])("interfaces 10 %o is %s", (given, outcome) => {
    expect(outcomeOf(line(1, given), undefined)).toBe(outcome);
  });

  it.each([
    [true, "ok"],
    [false, "failed"],
    [null, "other"],
  ])("interfaces 10 an entry that says delivered: %s is %s", (delivered, outcome) => {
    expect(outcomeOf(undefined, entry(1, { delivered, title: "It was answered 200." }))).toBe(outcome);
  });
});
