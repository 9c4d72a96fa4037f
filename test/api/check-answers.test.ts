import { expect, it, onTestFinished, vi } from "vitest";
import { LocalDirectory } from "../../src/control/directory.ts";
import { Reply } from "../../src/engine/contract/reply.ts";
import { reparentDepartment as reparent } from "../../src/engine/resources/departments/operations.ts";
import { departments } from "../../src/engine/resources/departments/schema.ts";
import { createStandardLog } from "../../src/hosts/node/log.ts";
import { startReference } from "../support/harness.ts";

const REPARENT = "/v1/organizations/org_acme/departments/dept_infra/reparent";

it.each([
  ["on", 500],
  ["off", 299],
] as const)(
  "with check_answers %s an answer with an undeclared status is %i [interfaces 4]",
  async (check_answers, status) => {
    const answering = vi.spyOn(reparent, "handle").mockImplementation(() => new Reply(299, {}));
    onTestFinished(() => answering.mockRestore());
    const api = await startReference({ settings: { check_answers }, log: createStandardLog("silent") });
    onTestFinished(() => api.close());
    expect((await api.call("ada", "POST", REPARENT, { new_parent_id: "dept_ops" })).status).toBe(status);
  },
);

it("an answer of the control API that does not fit its schema is a 500 in every test [interfaces 11]", async () => {
  const answering = vi.spyOn(LocalDirectory.prototype, "count").mockResolvedValue(-1);
  onTestFinished(() => answering.mockRestore());
  const api = await startReference({ log: createStandardLog("silent") });
  expect((await api.call(undefined, "GET", "/_control/health")).status).toBe(500);
  await api.close();
});

it.each([
  ["on", 500, "dept_platform"],
  ["off", 200, "dept_ops"],
] as const)(
  "with check_answers %s an answer that does not fit its schema is %i [interfaces 4]",
  async (check_answers, status, parent_id) => {
    const api = await startReference({ settings: { check_answers }, log: createStandardLog("silent") });
    const { world } = api.understudy.sandboxes.get("default")!;
    world.transact((tx) => tx.update(departments, "dept_infra", { name: 5 as never }));
    const answer = await api.call("ada", "POST", REPARENT, { new_parent_id: "dept_ops" });
    expect(answer.status).toBe(status);
    // The refused change was not made.
    expect(world.read().get(departments, "dept_infra")?.parent_id).toBe(parent_id);
    await api.close();
  },
);
