import { Type } from "typebox";
import { describe, expect, it } from "vitest";
import { publicView, removeInternalFields } from "./public-view.ts";
import { Id, Instant, internal, Nullable, NullableInstant, Timestamp } from "./schema.ts";

const Crate = Type.Object({
  id: Id("crate_"),
  shelf_id: Id("shelf_"),
  packed_at: Instant(),
  opened_at: NullableInstant({ description: "Null until it is opened" }),
  weight: internal(Type.Integer()),
});
const world = { toIso: (instant: number) => new Date(instant).toISOString() };
const record = { id: "crate_a", shelf_id: "shelf_a", packed_at: 1000, opened_at: null, weight: 7 };

describe("the public view of a stored record", () => {
  const { schema, render } = publicView(Crate, { $id: "Crate", omit: ["shelf_id"] });

  it("has timestamps, and neither omitted nor internal fields [2.2]", () => {
    expect(JSON.parse(JSON.stringify(schema))).toEqual(
      JSON.parse(
        JSON.stringify(
          Type.Object(
            {
              id: Id("crate_"),
              packed_at: Timestamp(),
              opened_at: Nullable(Timestamp({ description: "Null until it is opened" })),
            },
            { $id: "Crate" },
          ),
        ),
      ),
    );
    expect(render(record, world)).toEqual({
      id: "crate_a",
      packed_at: "1970-01-01T00:00:01.000Z",
      opened_at: null,
    });
    expect(render({ ...record, opened_at: 0 }, world).opened_at).toBe("1970-01-01T00:00:00.000Z");
    expect(record.packed_at).toBe(1000);
  });

  it("has its fields in the order of the schema, in any record [2.2]", () => {
    const shuffled = { weight: 7, opened_at: null, packed_at: 1000, shelf_id: "shelf_a", id: "crate_a" };
    expect(Object.keys(render(shuffled, world))).toEqual(["id", "packed_at", "opened_at"]);
  });

  it("a schema without internal fields is returned unchanged [interfaces 4]", () => {
    expect(Object.keys(removeInternalFields(Crate).properties)).not.toContain("weight");
    expect((removeInternalFields(Crate) as { required?: string[] }).required).not.toContain("weight");
    const plain = Type.Object({ id: Id("crate_") });
    expect(removeInternalFields(plain)).toBe(plain);
  });
});
