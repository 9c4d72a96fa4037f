import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findIdKey, mergeDocuments } from "./merge-documents.ts";

const base = {
  organizations: [{ id: "org_acme", name: "Acme", plan: "premium" }],
  departments: [
    { id: "dept_a", name: "A", color: "#111111" },
    { id: "dept_b", name: "B" },
  ],
  audit_log: { org_acme: 400, org_globex: 12_000 },
  connector_jobs: [{ job_id: "job_1", connection_id: "conn_1", status: "running" }],
  webhooks: [{ id: "wh_1", events: ["user.created"], deliveries: [{ delivery_id: "del_1", attempts: 1 }] }],
};

describe("fixtures that extend another", () => {
  it("merge maps key by key [interfaces 5]", () => {
    const merged = mergeDocuments(base, { audit_log: { org_acme: 5 }, epoch: "2026-01-01" });
    expect(merged).toEqual({ ...base, audit_log: { org_acme: 5, org_globex: 12_000 }, epoch: "2026-01-01" });
  });

  it("merge lists by id: known records in place, new ones at the end [interfaces 5]", () => {
    const overlay = {
      departments: [
        { id: "dept_c", name: "C" },
        { id: "dept_a", name: "Alpha" },
      ],
      connector_jobs: [{ job_id: "job_1", status: "failed" }],
      webhooks: [
        {
          id: "wh_1",
          deliveries: [
            { delivery_id: "del_2", attempts: 6 },
            { delivery_id: "del_1", attempts: 2 },
          ],
        },
      ],
    };
    expect(mergeDocuments(base, overlay)).toEqual({
      ...base,
      departments: [
        { id: "dept_a", name: "Alpha", color: "#111111" },
        { id: "dept_b", name: "B" },
        { id: "dept_c", name: "C" },
      ],
      connector_jobs: [{ job_id: "job_1", connection_id: "conn_1", status: "failed" }],
      webhooks: [
        {
          id: "wh_1",
          events: ["user.created"],
          deliveries: [
            { delivery_id: "del_1", attempts: 2 },
            { delivery_id: "del_2", attempts: 6 },
          ],
        },
      ],
    });
  });

  it("merge by ids that are numbers, also in a list within a record [interfaces 5]", () => {
    const boxes = [
      {
        id: "box_1",
        parts: [
          { id: 7, name: "lid" },
          { id: 8, name: "base" },
        ],
      },
    ];
    const merge = (parts: unknown) => mergeDocuments({ boxes }, { boxes: [{ id: "box_1", parts }] });
    const readParts = (merged: unknown) => (merged as { boxes: typeof boxes }).boxes[0]!.parts;
    const changed = [
      { id: 7, name: "cover" },
      { id: 8, name: "base" },
      { id: 9, name: "side" },
    ];
    expect(
      readParts(
        merge([
          { id: 7, name: "cover" },
          { id: 9, name: "side" },
        ]),
      ),
    ).toEqual(changed);
    expect(readParts(merge({ 7: { name: "cover" }, 9: { name: "side" } }))).toEqual(changed);
    expect(readParts(merge({ 7: null }))).toEqual([{ id: 8, name: "base" }]);
  });

  it("delete a key, a whole list, or a record addressed by its id with null [interfaces 5]", () => {
    const overlay = {
      organizations: null,
      departments: { dept_b: null, dept_a: { color: null } },
      audit_log: { org_acme: null, org_unknown: null },
    };
    const merged = mergeDocuments(base, overlay) as typeof base;
    expect(merged).not.toHaveProperty("organizations");
    expect(merged.departments).toEqual([{ id: "dept_a", name: "A" }]);
    expect(merged.audit_log).toEqual({ org_globex: 12_000 });
  });

  it("add a record under the id that a map's key gives [interfaces 5]", () => {
    const merged = mergeDocuments(base, { connector_jobs: { job_2: { status: "failed" } } }) as typeof base;
    expect(merged.connector_jobs.at(-1)).toEqual({ job_id: "job_2", status: "failed" });
  });

  it("keep null in a new record [interfaces 5]", () => {
    const merged = mergeDocuments(base, { departments: [{ id: "dept_c", parent_id: null }] }) as typeof base;
    expect(merged.departments.at(-1)).toEqual({ id: "dept_c", parent_id: null });
  });

  it("replace a list by a number, a number by a list, and texts and plain lists by each other [interfaces 5]", () => {
    expect(mergeDocuments(base, { departments: 10_000 })).toMatchObject({ departments: 10_000 });
    expect(mergeDocuments({ messages: 4 }, { messages: [{ id: "m" }] })).toEqual({ messages: [{ id: "m" }] });
    expect(mergeDocuments({ events: ["a", "b"] }, { events: ["c"] })).toEqual({ events: ["c"] });
    expect(mergeDocuments({ events: ["a"] }, { events: [] })).toEqual({ events: [] });
  });

  it("add nothing for an empty list, and add records without an id [interfaces 5]", () => {
    expect(mergeDocuments(base, { departments: [] })).toEqual(base);
    const merged = mergeDocuments(base, { departments: [{ name: "unnamed" }] }) as typeof base;
    expect(merged.departments).toHaveLength(3);
  });

  it("replace a list by a map that addresses no records, which the schema then refuses [interfaces 5]", () => {
    expect(mergeDocuments(base, { departments: { dept_a: 5 } })).toMatchObject({
      departments: { dept_a: 5 },
    });
    expect(mergeDocuments({ departments: [] }, { departments: { d: {} } })).toEqual({
      departments: { d: {} },
    });
  });

  it("find a record by its own id before the ids it refers to [interfaces 5]", () => {
    expect(findIdKey({ connection_id: "conn", job_id: "job" })).toBe("job_id");
    expect(findIdKey({ key: "ak_", id: "apikey" })).toBe("id");
    expect(findIdKey({ key: "atlas-large" })).toBe("key");
    expect(findIdKey({ id: 5, name: "x" })).toBe("id");
    expect(findIdKey({ id: null, name: "x" })).toBeUndefined();
  });

  it("leave both documents unchanged [interfaces 5]", () => {
    const before = structuredClone(base);
    mergeDocuments(base, { departments: [{ id: "dept_a", name: "Z" }], webhooks: { wh_1: null } });
    expect(base).toEqual(before);
  });

  describe("for any documents", () => {
    const scalar = fc.oneof(fc.integer(), fc.constant("text"), fc.boolean());
    const { tree } = fc.letrec<{ tree: unknown }>((tie) => {
      const fields = fc.dictionary(
        fc.constantFrom("a", "b", "c"),
        fc.oneof(scalar, tie("tree"), fc.constant(null)),
        {
          noNullPrototype: true,
        },
      );
      const record = fc.tuple(fc.constantFrom("x", "y", "z"), fields).map(([id, rest]) => ({ ...rest, id }));
      return {
        tree: fc.oneof(
          { maxDepth: 4 },
          fields,
          fc.uniqueArray(record, { maxLength: 3, selector: (one) => one.id }),
          fc.array(scalar, { maxLength: 2 }),
        ),
      };
    });

    it("give the same result if an overlay is merged twice, except nulls of new records [interfaces 5]", () => {
      fc.assert(
        fc.property(tree, tree, (under, over) => {
          const once = mergeDocuments(under, over);
          const twice = mergeDocuments(once, over);
          expect(omitNulls(twice)).toEqual(omitNulls(once));
          expect(mergeDocuments(mergeDocuments(twice, over), over)).toEqual(mergeDocuments(twice, over));
        }),
      );
    });

    it("are unchanged by an empty overlay [interfaces 5]", () => {
      fc.assert(
        fc.property(tree, (under) => {
          expect(mergeDocuments(under, undefined)).toEqual(under);
          if (!Array.isArray(under)) expect(mergeDocuments(under, {})).toEqual(under);
        }),
      );
    });
  });
});

function omitNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(omitNulls);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([, inner]) => inner !== null);
  return Object.fromEntries(entries.map(([key, inner]) => [key, omitNulls(inner)]));
}
