import { Type } from "typebox";
import { describe, expect, it } from "vitest";
import { createEntryFormat } from "./fixture-entry.ts";
import { Id, Instant, internal, Nullable, NullableInstant, UserId } from "./schema.ts";
import { toValidator } from "./validator.ts";

const Crate = Type.Object({
  crate_id: Id("crate_"),
  owner_id: UserId(),
  label: Nullable(Type.String()),
  depth: Type.Integer(),
  packed_at: Instant(),
  opened_at: NullableInstant(),
  weight: internal(Type.Integer()),
});
const entryFormat = createEntryFormat(Crate, {
  required: ["crate_id"],
  omit: ["depth"],
  notNull: ["opened_at"],
  names: { crate_id: "id", owner_id: "owner" },
  more: { items: Type.Optional(Type.Integer()) },
});
const fitsSchema = (entry: object) => toValidator(entryFormat.schema)(entry);
const base = { toInstant: (iso: string) => Date.parse(iso) };

describe("a fixture's record", () => {
  it("requires only what the factory cannot fill in, and refuses other keys [interfaces 5]", () => {
    expect(fitsSchema({ id: "crate_a" })).toBe(true);
    expect(fitsSchema({ id: "crate_a", owner: "usr_a", label: null, items: 3 })).toBe(true);
    expect(fitsSchema({ id: "crate_a", packed_at: "2026-03-15T12:00:00Z" })).toBe(true);
    for (const wrong of [
      {},
      { id: "box_a" },
      { id: "crate_a", owner_id: "usr_a" },
      { id: "crate_a", depth: 1 },
      { id: "crate_a", weight: 1 },
      { id: "crate_a", lable: "A" },
      { id: "crate_a", opened_at: null },
      { id: "crate_a", packed_at: 5 },
    ])
      expect(fitsSchema(wrong), JSON.stringify(wrong)).toBe(false);
  });

  it("becomes the record's fields, without the omitted ones [interfaces 5]", () => {
    expect(entryFormat.id).toBe("id");
    const entry = { id: "crate_a", owner: "usr_a", opened_at: "1970-01-01T00:00:02Z", items: 3 };
    expect(entryFormat.toFields(entry, base)).toEqual({
      crate_id: "crate_a",
      owner_id: "usr_a",
      opened_at: 2000,
    });
    expect(entryFormat.toFields({ id: "crate_a", label: null }, base)).toEqual({
      crate_id: "crate_a",
      label: null,
    });
  });
});
