import { Type } from "typebox";
import { describe, expect, it } from "vitest";
import { belongsTo, findReferences, keysBelongTo, mentions, visitReferences } from "./references.ts";
import { Id, Nullable, UserId } from "./schema.ts";

const Parcel = Type.Object({
  id: Id("parcel_"),
  crate_id: Nullable(Id("crate_", belongsTo("crates"))),
  packed_by: UserId(mentions("users")),
  shares: Type.Record(Type.String({ pattern: "^org_" }), Type.Integer(), keysBelongTo("organizations")),
  items: Type.Array(Type.Object({ file_id: Id("file_", belongsTo("files")), note: Type.String() })),
});

function listVisited(value: unknown): string[] {
  const found: string[] = [];
  visitReferences(Parcel, value, ({ reference, id, path, isKey }) =>
    found.push(`${path.join(".")} ${reference.collection} ${id}${isKey ? " as key" : ""}`),
  );
  return found;
}

describe("declared references", () => {
  it("are found at any depth, as values and as keys [interfaces 5]", () => {
    const parcel = {
      id: "parcel_a",
      crate_id: "crate_a",
      packed_by: "usr_dan",
      shares: { org_a: 1, org_b: 2 },
      items: [{ file_id: "file_a", note: "usr_ada" }, { file_id: "file_b" }],
    };
    expect(listVisited(parcel)).toEqual([
      "crate_id crates crate_a",
      "packed_by users usr_dan",
      "shares.org_a organizations org_a as key",
      "shares.org_b organizations org_b as key",
      "items.0.file_id files file_a",
      "items.1.file_id files file_b",
    ]);
  });

  it("are found by the pattern that a key matches, and by no other [interfaces 5]", () => {
    const Labels = {
      type: "object",
      patternProperties: { "^u_": UserId(mentions("users")), "^o_": Id("org_", mentions("organizations")) },
    };
    const found: string[] = [];
    visitReferences(Labels, { u_1: "usr_dan", o_1: "org_a", other: "usr_ada" }, ({ reference, id }) =>
      found.push(`${reference.collection} ${id}`),
    );
    expect(found).toEqual(["users usr_dan", "organizations org_a"]);
  });

  it("are not found in values that are null, missing or of another type [interfaces 5]", () => {
    expect(listVisited({ crate_id: null })).toEqual([]);
    expect(listVisited({ crate_id: 5, items: "none", shares: [] })).toEqual([]);
    expect(listVisited("parcel_a")).toEqual([]);
  });

  it("distinguish owned records from mentioned ones [interfaces 4]", () => {
    expect(findReferences(Parcel)).toEqual([
      { collection: "crates", owned: true },
      { collection: "users", owned: false },
      { collection: "organizations", owned: true },
      { collection: "files", owned: true },
    ]);
  });
});
