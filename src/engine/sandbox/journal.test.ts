import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { drawRequestId } from "../state/random.ts";
import { headLines } from "./head-lines.ts";
import { Journal } from "./journal.ts";
import type { AnsweredRequest } from "./journal-entry.ts";

const answered = (fields: Partial<AnsweredRequest> = {}): AnsweredRequest => ({
  id: "req_1",
  at: 0,
  committed_at: undefined,
  operation: "departments.reparent",
  method: "POST",
  path: "/v1/organizations/org_acme",
  query: "a=1",
  status: 200,
  code: null,
  duration_ms: 1,
  principal: "usr_dan",
  api_key: "apikey_dan",
  decision: "ok",
  reasons: [],
  warnings: [],
  request_headers: ["Host", "localhost", "X-Empty", ""],
  request_body: Buffer.from("{}"),
  request_bytes: 2,
  response_head: "Content-Type: application/json\r\n",
  response_body: '{"name":"Zoë"}',
  streamed: undefined,
  history: null,
  ...fields,
});

/** Bytes as a text: to compare them one by one takes a hundred times as long. */
const shown = (value: unknown) => (Buffer.isBuffer(value) ? value.toString("latin1") : value);

const header = fc
  .string({ unit: "binary-ascii", maxLength: 40 })
  .map((text) => text.replaceAll(/[\r\n]/g, ""));
const name = fc.stringMatching(/^[A-Za-z-]{1,20}$/);
const flat = fc.array(fc.tuple(header, header), { maxLength: 6 }).map((pairs) => pairs.flat());
const requests = fc.record({
  at: fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 }),
  path: header,
  query: header,
  request_headers: flat,
  response_head: fc.array(fc.tuple(name, header), { maxLength: 6 }).map((pairs) => headLines(pairs.flat())),
  request_body: fc.option(
    fc.uint8Array({ maxLength: 3000 }).map((bytes) => Buffer.from(bytes)),
    { nil: undefined },
  ),
  response_body: fc.option(fc.oneof(fc.string({ unit: "grapheme", maxLength: 30_000 }), fc.string()), {
    nil: undefined,
  }),
});

describe("the journal", () => {
  it("interfaces 4 gives back of each entry what it was given, whatever came before and after", () => {
    fc.assert(
      fc.property(
        fc.array(requests, { minLength: 1, maxLength: 60 }),
        fc.integer({ min: 1, max: 20 }),
        (all, limit) => {
          const journal = new Journal(limit);
          for (const one of all) journal.add(answered(one));
          const kept = journal.entries();
          expect(kept).toHaveLength(Math.min(limit, all.length));
          for (const [index, entry] of kept.entries()) {
            const given = all[all.length - kept.length + index]!;
            expect(entry.at).toBe(given.at);
            expect(entry.path).toBe(given.path);
            expect(entry.query).toBe(given.query);
            expect(entry.request_headers).toEqual(given.request_headers);
            expect(entry.response_head).toBe(given.response_head);
            expect(headLines(entry.response_headers)).toBe(given.response_head);
            expect(shown(entry.request_body)).toBe(shown(given.request_body));
            expect(entry.response_body?.toString()).toBe(given.response_body);
          }
        },
      ),
    );
  });

  it("interfaces 4 leaves entries that somebody holds as they were, also when they are evicted", () => {
    const journal = new Journal(50);
    const body = (i: number) => Buffer.from(`${i} `.repeat(2000));
    for (let i = 0; i < 500; i++) journal.add(answered({ request_body: body(i) }));
    const held = journal.entries().slice();
    for (let i = 500; i < 2000; i++) journal.add(answered({ request_body: body(i) }));
    for (const [index, entry] of held.entries()) {
      expect(entry.sequence).toBe(451 + index);
      expect(shown(entry.request_body)).toBe(shown(body(450 + index)));
    }
    const [found, placed] = [journal.find("req_1")!, journal.at(1990)!];
    for (let i = 2000; i < 2200; i++) journal.add(answered({ id: "req_2", request_body: body(i) }));
    expect([found.sequence, found.id, shown(found.request_body)]).toEqual([2000, "req_1", shown(body(1999))]);
    expect([placed.sequence, shown(placed.request_body)]).toEqual([1990, shown(body(1989))]);
    const heard: Buffer[] = [];
    journal.subscribe((entry) => entry?.request_body && heard.push(entry.request_body));
    for (let i = 0; i < 200; i++) journal.add(answered({ request_body: body(i) }));
    for (const [index, bytes] of heard.entries()) expect(shown(bytes)).toBe(shown(body(index)));
    expect(heard).toHaveLength(200);
  });

  it("interfaces 4 finds an entry by its position or id as long as it is kept, and what came after it", () => {
    const journal = new Journal(100);
    const found = () => {
      const kept = journal.entries();
      const around = Array.from({ length: journal.lastSequence + 3 }, (_, at) => at);
      expect(around.flatMap((at) => journal.at(at) ?? [])).toEqual(kept);
      for (const { id } of kept) expect(journal.find(id)?.id).toBe(id);
      for (const at of around)
        expect(journal.since(at)).toEqual(kept.filter(({ sequence }) => sequence > at));
    };
    for (let i = 0; i < 230; i++) {
      journal.add(answered({ id: `req_${i}` }));
      if (i % 37 === 0) found();
    }
    expect(journal.find("req_3")).toBeUndefined();
    journal.clear();
    found();
    journal.add(answered());
    found();
  });

  it("interfaces 4 has nothing of an evicted entry in the one that is written over it", () => {
    const full: Partial<AnsweredRequest> = {
      ...{ committed_at: 7, code: "not_found", reasons: ["why"], warnings: ["what"] },
      history: { prefix: "h_1_", number: 12 },
      ...{ request_body: Buffer.alloc(3), response_body: "abc" },
    };
    const whole = { ...full, request_body: Buffer.alloc(100_000) };
    const drawn = { id: drawRequestId(-7, 5), draw: { idSeed: -7, number: 5 } };
    const bare = { ...drawn, request_body: undefined, response_body: undefined, request_bytes: 0 };
    const kinds = [full, whole, bare].map(answered);
    const journal = new Journal(1);
    for (const former of kinds) {
      for (const given of kinds) {
        for (const one of [former, former, given]) journal.add(one);
        const fresh = new Journal(1).add(given);
        const entry = journal.add(given);
        expect(entry.history).toBe(given.history === null ? null : "h_1_12");
        expect(entry.id).toBe(given.id);
        expect(entry.numberUnder(-7)).toBe(given.draw?.number);
        expect(entry.numberUnder(0)).toBeUndefined();
        const { draw: _, ...told } = given;
        const fields = Object.keys(told) as (keyof typeof told)[];
        for (const field of fields) expect(shown(entry[field])).toEqual(shown(fresh[field]));
        expect(entry.cost()).toBe(fresh.cost());
      }
    }
  });

  it("interfaces 4 names an entry of the history without holding its states or the exchange, however long the request was", () => {
    const told = { prefix: "h_", number: 7, states: "many" };
    const draw = { idSeed: 1, number: 2, exchange: "many" };
    const entry = new Journal(1).add(answered({ history: told, draw, request_body: Buffer.alloc(100_000) }));
    expect(entry.history).toBe("h_7");
    expect(JSON.stringify(entry)).not.toContain("many");
  });

  it("interfaces 4 keeps within 32 MB, warnings and reasons counted", () => {
    const journal = new Journal(1000);
    const megabyte = "w".repeat(1024 * 1024);
    for (let i = 0; i < 40; i++) journal.add(answered({ warnings: [megabyte] }));
    expect(journal.size).toBe(31);
    expect(journal.dropped).toBe(9);
    journal.clear();
    for (let i = 0; i < 40; i++) journal.add(answered({ request_body: Buffer.alloc(1024 * 1024) }));
    expect(journal.size).toBe(31);
  });

  it("interfaces 4 counts every text that an entry holds, however short", () => {
    const many = Array.from({ length: 100_000 }, () => "");
    const costOf = (fields: Partial<AnsweredRequest>) =>
      new Journal(10).add(answered(fields)).cost() - new Journal(10).add(answered()).cost();
    for (const field of ["reasons", "warnings", "request_headers"]) {
      expect([field, costOf({ [field]: many }) > 100_000 * 16]).toEqual([field, true]);
    }
    for (const field of ["decision", "principal", "api_key", "code", "method", "id", "response_head"]) {
      expect([field, costOf({ [field]: "x".repeat(5000) }) >= 4900]).toEqual([field, true]);
    }
  });

  it("interfaces 4 completes an answer that was made while it was sent, unless it is gone by then", () => {
    const journal = new Journal(2);
    const first = journal.add(answered({ response_body: undefined, streamed: "under way" }));
    const second = journal.add(answered({ response_body: undefined, streamed: "under way" }));
    journal.add(answered());
    const sent = { bytes: 3, sha256: "abc", body: Buffer.from("abc") };
    journal.complete(first, sent);
    journal.complete(second, sent);
    expect(first.response_body).toBeUndefined();
    expect(second.response_body).toEqual(Buffer.from("abc"));
    expect(second.streamed).toEqual({ bytes: 3, sha256: "abc" });
  });
});
