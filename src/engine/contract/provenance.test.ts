import { describe, expect, it } from "vitest";
import { RESOURCES } from "../resources/index.ts";
import { ASSUMPTIONS } from "./assumptions/index.ts";
import { type AnyOperation, listSuccesses } from "./operation.ts";
import { findEndpointAssumption, findPlaceAssumption, listAssumedParts } from "./provenance.ts";
import { describeSettings, listSettings } from "./settings.ts";

const OPERATIONS = RESOURCES.flatMap(({ operations }) => operations);

describe("provenance", () => {
  it("parts of operations name existing operations and assumptions [2]", () => {
    const gaps = new Set(ASSUMPTIONS.map(({ id }) => id));
    for (const operation of OPERATIONS) {
      for (const { part, assumption } of listAssumedParts(operation))
        expect(gaps, `${operation.id} ${part}`).toContain(assumption);
    }
  });

  it("a setting names an assumption of the ledger, and the ledger names it [interfaces 4]", () => {
    const gaps = ASSUMPTIONS.map(({ id }) => id);
    const named = describeSettings().flatMap(({ assumption }) => assumption ?? []);
    expect(named.filter((id) => !gaps.includes(id))).toEqual([]);
    expect(listSettings("G24")).toEqual(["webhook_timeout_seconds", "retry_schedule"]);
  });

  it("parts of operations name places that their declared bodies have [2]", () => {
    for (const operation of OPERATIONS) {
      const { fields, types, values, specified = [] } = operation.assumed ?? {};
      const { schema } = listSuccesses(operation)[0]!;
      const shown = specified.filter((place) => place !== "status");
      for (const place of [...Object.keys({ ...fields, ...types, ...values }), ...shown]) {
        const steps = place.split("/").slice(1);
        expect(hasPlace(schema as Shape, steps), `${operation.id} ${place}`).toBe(true);
      }
    }
  });

  it("every answer of an assumed endpoint is assumed [G16]", () => {
    const [stop, limits] = ["meeting_sessions.stop", "usage.retrieve_limits"].map(
      (wanted) => OPERATIONS.find(({ id }) => id === wanted)!,
    ) as [AnyOperation, AnyOperation];
    expect(findEndpointAssumption(stop)).toBe("G16");
    expect(findPlaceAssumption(stop, "/title")).toBe("G16");
    expect(findEndpointAssumption(limits)).toBeUndefined();
  });
});

type Shape = { properties?: Record<string, Shape>; items?: Shape; anyOf?: Shape[] };

function hasPlace(shape: Shape | undefined, [part, ...rest]: readonly string[]): boolean {
  if (shape === undefined) return false;
  if (part === undefined) return true;
  const branches = [shape, ...(shape.anyOf ?? [])];
  return branches.some(({ properties, items }) => {
    if (part !== "*") return hasPlace(properties?.[part], rest);
    return items !== undefined ? hasPlace(items, rest) : properties !== undefined;
  });
}
