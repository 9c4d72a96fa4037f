import { afterAll, expect, it } from "vitest";
import { createUnderstudy, type LocalUnderstudy } from "./create-understudy.ts";
import { unhitFaults } from "./test-sandbox.ts";

let understudy: LocalUnderstudy | undefined;
afterAll(() => understudy?.close());

it("interfaces 8 a fault that never struck is told, one that is off is not", async () => {
  understudy = await createUnderstudy();
  const sandbox = await understudy.sandbox();
  const rule = { match: { operation: "models.list" }, effect: { status: 503 } } as const;
  await sandbox.faults.add({ ...rule, id: "off", probability: 0 });
  expect(await unhitFaults(sandbox)).toEqual([]);
  await sandbox.faults.add({ ...rule, id: "armed" });
  expect(await unhitFaults(sandbox)).toEqual(['armed {"operation":"models.list"}']);
  await fetch(`${sandbox.url}/v1/models`);
  expect(await unhitFaults(sandbox)).toEqual([]);
});
