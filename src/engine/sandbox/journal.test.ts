import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Journal } from "./journal.ts";
import { type ExchangeDetails, estimateBytes } from "./journal-entry.ts";
import { Timeline } from "./timeline.ts";

const makeJournal = (limit: number) => new Journal(limit, new Timeline());

const makeDetails = (fields: Partial<ExchangeDetails> = {}): ExchangeDetails => ({
  id: "req_1",
  request_number: 0,
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
  response_headers: ["Content-Type", "application/json"],
  response_body: '{"name":"Zoë"}',
  streamed: undefined,
  ...fields,
});

/** Converts bytes to text: comparing them one by one takes a hundred times as long. */
const toShownBody = (value: unknown) =>
  value instanceof Uint8Array ? Buffer.from(value).toString("latin1") : value;

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
  response_headers: fc.array(fc.tuple(name, header), { maxLength: 6 }).map((pairs) => pairs.flat()),
  request_body: fc.option(
    fc.uint8Array({ maxLength: 3000 }).map((bytes) => Buffer.from(bytes)),
    { nil: undefined },
  ),
  response_body: fc.option(fc.oneof(fc.string({ unit: "grapheme", maxLength: 30_000 }), fc.string()), {
    nil: undefined,
  }),
});

describe("the journal", () => {
  it("an entry has the fields of its request [interfaces 4]", () => {
    fc.assert(
      fc.property(
        fc.array(requests, { minLength: 1, maxLength: 60 }),
        fc.integer({ min: 1, max: 20 }),
        (all, limit) => {
          const journal = makeJournal(limit);
          for (const one of all) journal.add(makeDetails(one));
          const kept = journal.entries();
          expect(kept).toHaveLength(Math.min(limit, all.length));
          for (const [index, entry] of kept.entries()) {
            const given = all[all.length - kept.length + index]!;
            expect(entry.at).toBe(given.at);
            expect(entry.path).toBe(given.path);
            expect(entry.query).toBe(given.query);
            expect(entry.request_headers).toEqual(given.request_headers);
            expect(entry.response_headers).toEqual(given.response_headers);
            expect(toShownBody(entry.request_body)).toBe(toShownBody(given.request_body));
            expect(entry.response_body?.toString()).toBe(given.response_body);
          }
        },
      ),
    );
  });

  it("an entry is found by id, and those after a position are listed [interfaces 4]", () => {
    const journal = makeJournal(100);
    const findAll = () => {
      const kept = journal.entries();
      const around = Array.from({ length: journal.lastSequence + 3 }, (_, at) => at);
      for (const { id } of kept) expect(journal.find(id)?.id).toBe(id);
      for (const at of around)
        expect(journal.listSince(at)).toEqual(kept.filter(({ sequence }) => sequence > at));
    };
    for (let i = 0; i < 230; i++) {
      journal.add(makeDetails({ id: `req_${i}` }));
      if (i % 37 === 0) findAll();
    }
    expect(journal.find("req_3")).toBeUndefined();
    journal.clear();
    findAll();
    journal.add(makeDetails());
    findAll();
  });

  it("a request's bytes are copied, since the server may use its buffer again [interfaces 4]", () => {
    const body = Buffer.from("abc");
    const entry = makeJournal(1).add(makeDetails({ request_body: body }));
    body.fill("x");
    expect(toShownBody(entry.request_body)).toBe("abc");
  });

  it("the journal uses at most 32 MB, warnings and reasons included [interfaces 4]", () => {
    const journal = makeJournal(1000);
    const megabyte = "w".repeat(1024 * 1024);
    for (let i = 0; i < 40; i++) journal.add(makeDetails({ warnings: [megabyte] }));
    expect(journal.size).toBe(31);
    expect(journal.dropped).toBe(9);
    journal.clear();
    for (let i = 0; i < 40; i++) journal.add(makeDetails({ request_body: Buffer.alloc(1024 * 1024) }));
    expect(journal.size).toBe(31);
  });

  it("the size of an entry includes each of its texts, also empty ones [interfaces 4]", () => {
    const many = Array.from({ length: 100_000 }, () => "");
    const measure = (fields: Partial<ExchangeDetails>) =>
      estimateBytes(makeJournal(10).add(makeDetails(fields))) -
      estimateBytes(makeJournal(10).add(makeDetails()));
    for (const field of ["reasons", "warnings", "request_headers", "response_headers"]) {
      expect([field, measure({ [field]: many }) > 100_000 * 16]).toEqual([field, true]);
    }
    for (const field of ["decision", "principal", "api_key", "code", "method", "id"]) {
      expect([field, measure({ [field]: "x".repeat(5000) }) >= 4900]).toEqual([field, true]);
    }
  });

  it("a streamed answer is completed, unless its entry was evicted meanwhile [interfaces 4]", () => {
    const journal = makeJournal(2);
    const first = journal.add(makeDetails({ response_body: undefined, streamed: "under way" }));
    const second = journal.add(makeDetails({ response_body: undefined, streamed: "under way" }));
    journal.add(makeDetails());
    const sent = { bytes: 3, sha256: "abc", body: Buffer.from("abc") };
    journal.complete(first, sent);
    journal.complete(second, sent);
    expect(first.response_body).toBeUndefined();
    expect(toShownBody(second.response_body)).toBe("abc");
    expect(second.streamed).toEqual({ bytes: 3, sha256: "abc" });
  });
});
