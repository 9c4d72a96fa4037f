import { expect, it } from "vitest";
import { standardLog } from "../../src/log.ts";
import { departments } from "../../src/resources/departments/schema.ts";
import { startReference } from "../support/harness.ts";

const REPARENT = "/v1/organizations/org_acme/departments/dept_infra/reparent";

it.each([
  ["on", 500, "dept_platform"],
  ["off", 200, "dept_ops"],
] as const)(
  "interfaces 4 with check_answers %s an answer that does not fit its schema is %i",
  async (check_answers, status, parent_id) => {
    const api = await startReference({ settings: { check_answers }, log: standardLog("silent") });
    const { world } = api.understudy.sandboxes.get("default")!;
    world.transact((tx) => tx.update(departments, "dept_infra", { name: 5 as never }));
    const answer = await api.call("ada", "POST", REPARENT, { new_parent_id: "dept_ops" });
    expect(answer.status).toBe(status);
    // What was refused changed nothing.
    expect(world.read().get(departments, "dept_infra")?.parent_id).toBe(parent_id);
    await api.close();
  },
);
