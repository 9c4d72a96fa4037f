import fc from "fast-check";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type Api, startReference } from "../support/harness.ts";

/** For more (quality 2.5): `REPARENT_ROUNDS=500 npx vitest run test/hardening/reparents.test.ts`. */
const ROUNDS = Number(process.env["REPARENT_ROUNDS"] ?? 50);
const AT_ONCE = 20;
const DEPARTMENTS = ["dept_eng", "dept_ops", "dept_platform", "dept_infra", "dept_ml", "dept_archive"];

let api: Api;
beforeEach(async () => {
  api = await startReference();
  await api.call(undefined, "PATCH", "/_control/sandboxes/default/state/organizations/org_acme", {
    plan: "enterprise",
    rate_limit: 1_000_000,
  });
});
afterEach(() => api.close());

interface Department {
  id: string;
  parent_id: string | null;
  path: string;
  depth: number;
}

/** Follows the parents of every department. A cycle would not end, and a stale path would differ from the parents. */
async function expectTree(): Promise<void> {
  const { body } = await api.call(
    undefined,
    "GET",
    "/_control/sandboxes/default/state/departments?organization_id=org_acme&limit=100",
  );
  const byId = new Map((body.items as Department[]).map((department) => [department.id, department]));
  expect(byId.size).toBe(7);
  for (const { id, path, depth } of byId.values()) {
    const chain: string[] = [];
    for (let at: string | null = id; at !== null; at = byId.get(at)!.parent_id) {
      expect(chain, `${id} is its own ancestor`).not.toContain(at);
      chain.unshift(at);
    }
    expect({ path, depth }).toEqual({ path: chain.join("/"), depth: chain.length - 1 });
  }
}

const pair = fc
  .tuple(fc.constantFrom(...DEPARTMENTS), fc.constantFrom(...DEPARTMENTS))
  .filter(([one, other]) => one !== other);

it(`${ROUNDS} rounds of ${AT_ONCE} concurrent opposite reparents leave a tree each time [4.3, G10]`, async () => {
  const moves = fc.array(pair, { minLength: AT_ONCE / 2, maxLength: AT_ONCE / 2 });
  let moved = 0;
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(moves, async (pairs) => {
      // Each pair is reparented in both directions.
      const asked = pairs.flatMap(([one, other]) => [
        [one, other],
        [other, one],
      ]);
      const answers = await Promise.all(
        asked.map(([department, new_parent_id]) =>
          api.call("ada", "POST", `/v1/organizations/org_acme/departments/${department}/reparent`, {
            new_parent_id,
          }),
        ),
      );
      for (const { status, body } of answers) {
        if (status === 200) moved++;
        else {
          expect([status, body.error.code]).toEqual([422, "DEPARTMENT_CYCLE_DETECTED"]);
          refused++;
        }
      }
      await expectTree();
    }),
    { numRuns: ROUNDS, seed: 20260315, endOnFailure: true, includeErrorInReport: true },
  );
  expect(moved).toBeGreaterThan(ROUNDS);
  expect(refused).toBeGreaterThan(ROUNDS);
}, 300_000);
