import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { departments } from "../../src/engine/resources/departments/schema.ts";
import { exportRows } from "../support/audit-rows.ts";
import { type Api, type Caller, EPOCH, startReference } from "../support/harness.ts";
import { getStateRules } from "../support/state-rules.ts";

let api: Api;
beforeEach(async () => {
  api = await startReference();
});
afterEach(() => api.close());

const reparent = (who: Caller | undefined, id: string, new_parent_id: unknown, organization = "org_acme") =>
  api.call(who, "POST", `/v1/organizations/${organization}/departments/${id}/reparent`, { new_parent_id });
const getWorld = () => api.understudy.sandboxes.get("default")!.world;
const getDepartment = (id: string) => getWorld().read().get(departments, id)!;
const place = (id: string) => {
  const { parent_id, path, depth } = getDepartment(id);
  return [parent_id, path, depth];
};

describe("departments.reparent", () => {
  it("moves a department with all its descendants, and answers the whole object [4.3, G10]", async () => {
    const { status, body } = await reparent("ada", "dept_platform", "dept_ops");
    expect(status).toBe(200);
    expect(body).toEqual({
      id: "dept_platform",
      name: "Platform",
      description: expect.any(String),
      parent_id: "dept_ops",
      path: "dept_acme/dept_ops/dept_platform",
      depth: 2,
      organization_id: "org_acme",
      member_count: 9,
      is_active: true,
      is_default: false,
      color: null,
      created_by: "usr_ada",
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    expect(place("dept_infra")).toEqual(["dept_platform", "dept_acme/dept_ops/dept_platform/dept_infra", 3]);
    expect(place("dept_ml")).toEqual(["dept_eng", "dept_acme/dept_eng/dept_ml", 2]);
    expect(getDepartment("dept_ops").member_count).toBe(6);
  });

  it("makes a department top-level for null: depth 0, its path its own id [3.5]", async () => {
    const { body } = await reparent("ben", "dept_eng", null);
    expect([body.parent_id, body.path, body.depth]).toEqual([null, "dept_eng", 0]);
    expect(place("dept_infra")).toEqual(["dept_platform", "dept_eng/dept_platform/dept_infra", 2]);
  });

  it.each(["dept_eng", "dept_platform", "dept_infra"])(
    "refuses %s as the new parent of dept_eng: itself or a descendant [4.3]",
    async (new_parent_id) => {
      const { status, body, headers } = await reparent("ada", "dept_eng", new_parent_id);
      expect(status).toBe(422);
      expect(body.error).toMatchObject({
        code: "DEPARTMENT_CYCLE_DETECTED",
        type: "client_error",
        details: { department_id: "dept_eng", new_parent_id },
      });
      expect(headers.get("x-sandbox-decision")).toBe("rule");
      expect(place("dept_eng")).toEqual(["dept_acme", "dept_acme/dept_eng", 1]);
    },
  );

  it("checks route, organization, membership, role and existence in this order [4.3, G03]", async () => {
    const fetchCode = async (...request: Parameters<typeof reparent>) => {
      const { status, body } = await reparent(...request);
      return [status, body.error.code, body.error.details];
    };
    expect(await fetchCode("ada", "dept_ml", null, "org_nowhere")).toEqual([
      404,
      "ORGANIZATION_NOT_FOUND",
      { organization_id: "org_nowhere" },
    ]);
    expect(await fetchCode("eve", "dept_ml", null)).toEqual([
      403,
      "ORGANIZATION_ACCESS_DENIED",
      { organization_id: "org_acme" },
    ]);
    expect((await fetchCode("dan", "dept_ml", null)).slice(0, 2)).toEqual([403, "INSUFFICIENT_PERMISSIONS"]);
    expect(await fetchCode("ada", "dept_none", null)).toEqual([
      404,
      "RESOURCE_NOT_FOUND",
      { department_id: "dept_none" },
    ]);
    expect(await fetchCode("ada", "dept_globex", null)).toEqual([
      404,
      "RESOURCE_NOT_FOUND",
      { department_id: "dept_globex" },
    ]);
  });

  it.each(["dept_none", "dept_globex"])(
    "answers 404 to an unknown or foreign new parent (%s) [G10]",
    async (id) => {
      const { status, body, headers } = await reparent("ada", "dept_ml", id);
      expect(headers.get("x-sandbox-decision")).toBe("access");
      expect([status, body.error.code, body.error.details]).toEqual([
        404,
        "RESOURCE_NOT_FOUND",
        { new_parent_id: id },
      ]);
    },
  );

  it.each([[42], ["eng"], [""], [["dept_ops"]], [{}], [true]])(
    "answers 422 to new_parent_id %j, with the value as it was sent [G08]",
    async (value) => {
      const { status, body } = await reparent("ada", "dept_ml", value);
      expect(status).toBe(422);
      expect(body.error).toMatchObject({
        code: "INVALID_INPUT",
        details: { field: "new_parent_id", value },
      });
    },
  );

  it("answers 422 with value null to a missing new_parent_id, since null means top level [G08]", async () => {
    const path = "/v1/organizations/org_acme/departments/dept_ml/reparent";
    const { status, body } = await api.call("ada", "POST", path, {});
    expect([status, body.error.details]).toEqual([422, { field: "new_parent_id", value: null }]);
  });

  it("makes no cycle by concurrent opposite moves [4.3]", async () => {
    for (let round = 0; round < 10; round++) {
      await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          n % 2 ? reparent("ada", "dept_ml", "dept_platform") : reparent("ben", "dept_platform", "dept_ml"),
        ),
      );
      for (const id of ["dept_ml", "dept_platform"]) {
        expect(
          getDepartment(id)
            .path.split("/")
            .filter((part) => part === id),
        ).toHaveLength(1);
      }
      await reparent("ada", "dept_ml", "dept_eng");
      await reparent("ada", "dept_platform", "dept_eng");
    }
  });

  it("moves a chain of 10,000 descendants in one change, and back [4.3]", async () => {
    const rules = getStateRules(api, "departments");
    let above = "dept_archive";
    for (let n = 0; n < 10_000; n++) {
      const id = `dept_chain${n}`;
      rules.post({ id, parent_id: above, organization_id: "org_acme", name: "Link" }, { silent: true });
      above = id;
    }
    const { status, body } = await reparent("ada", "dept_chain0", "dept_eng");
    expect([status, body.depth]).toEqual([200, 2]);
    expect(getDepartment("dept_chain9999").depth).toBe(10_001);
    expect(getDepartment("dept_chain9999").path.startsWith("dept_acme/dept_eng/dept_chain0/")).toBe(true);
    expect((await reparent("ada", "dept_chain0", "dept_chain9999")).body.error.code).toBe(
      "DEPARTMENT_CYCLE_DETECTED",
    );
    expect((await reparent("ada", "dept_chain0", null)).status).toBe(200);
    expect(getDepartment("dept_chain9999").depth).toBe(9_999);
  });
});

describe("the audit entry of a reparent [G31]", () => {
  it("names the department, the new parent, both parent ids and the caller [G31]", async () => {
    await reparent("ben", "dept_ml", "dept_ops");
    const [row] = await exportRows(api, "?action_type=reparented&department_id=dept_ml");
    expect(row).toEqual({
      Timestamp: EPOCH,
      "Entity Type": "department",
      "Entity Name": "ML",
      Action: "reparented",
      "Actor Name": "Ben Castro",
      "Actor Email": "ben@acme.test",
      "Target Name": "Operations",
      "Previous Value": "dept_eng",
      "New Value": "dept_ops",
    });
  });

  it("leaves target and new value empty at top level [G31]", async () => {
    await reparent("ada", "dept_ml", null);
    const [row] = await exportRows(api, "?action_type=reparented&department_id=dept_ml");
    expect(row).toMatchObject({ "Target Name": "", "Previous Value": "dept_eng", "New Value": "" });
  });

  it("is not written for a move to the same parent, which changes nothing [G31]", async () => {
    const before = (await exportRows(api)).length;
    const { root } = api.understudy.sandboxes.get("default")!.world;
    for (const [id, parent] of [
      ["dept_ml", "dept_eng"],
      ["dept_acme", null],
    ] as const) {
      const { status, body } = await reparent("ada", id, parent);
      expect([status, body.id, body.parent_id]).toEqual([200, id, parent]);
    }
    expect(await exportRows(api)).toHaveLength(before);
    expect(api.understudy.sandboxes.get("default")!.world.root).toBe(root);
  });

  it("is not written for a refused reparent [G31]", async () => {
    const before = (await exportRows(api)).length;
    await reparent("ada", "dept_eng", "dept_ml");
    await reparent("ada", "dept_eng", "dept_none");
    await reparent("dan", "dept_eng", null);
    expect(await exportRows(api)).toHaveLength(before);
  });
});

describe("state rules of departments", () => {
  const getDepartmentRules = () => getStateRules(api, "departments");
  const listAudited = async () =>
    (await exportRows(api, "?entity_type=department&from_date=2026-03-15T12:00:00Z")).map((row) => [
      row["Entity Name"],
      row["Action"],
      row["Actor Name"],
    ]);

  it("add a created department below its parent, with one audit entry by the owner [G31]", async () => {
    const { record } = getDepartmentRules().post({ name: "Tools", parent_id: "dept_platform" });
    expect(record).toMatchObject({
      organization_id: "org_acme",
      path: `dept_acme/dept_eng/dept_platform/${record.id}`,
      depth: 3,
      member_count: 0,
      created_at: 0,
    });
    expect(await listAudited()).toEqual([["Tools", "created", "Ada Osei"]]);
  });

  it("take another actor from ?actor=, and write no entry if silent [G31]", async () => {
    getDepartmentRules().patch("dept_ml", { name: "AI" }, { user_id: "usr_ben" });
    getDepartmentRules().patch("dept_ml", { name: "Robots" }, { silent: true });
    expect(await listAudited()).toEqual([["AI", "updated", "Ben Castro"]]);
  });

  it("move the subtree if parent_id changes, with the audit entry of a move [4.3, G31]", async () => {
    getDepartmentRules().patch("dept_platform", { parent_id: "dept_ops" });
    expect(place("dept_infra")).toEqual(["dept_platform", "dept_acme/dept_ops/dept_platform/dept_infra", 3]);
    expect(await listAudited()).toEqual([["Platform", "reparented", "Ada Osei"]]);
  });

  it.each<[string, object, string]>([
    ["parent_id", { parent_id: "dept_infra" }, "a cycle"],
    ["parent_id", { parent_id: "dept_eng" }, "itself"],
    ["parent_id", { parent_id: "dept_globex" }, "a foreign parent"],
    ["parent_id", { parent_id: "dept_none" }, "an unknown parent"],
    ["path", { path: "dept_eng" }, "a path of its own"],
    ["depth", { depth: 7 }, "a depth of its own"],
    ["organization_id", { organization_id: "org_globex" }, "another organization"],
  ])("refuse %s when a change gives %j (%s) [interfaces 4]", (field, change) => {
    const before = getDepartment("dept_eng");
    expect(() => getDepartmentRules().patch("dept_eng", change)).toThrow(
      expect.objectContaining({ code: "INVALID_INPUT", details: expect.objectContaining({ field }) }),
    );
    expect(getDepartment("dept_eng")).toEqual(before);
  });

  it("delete the descendants of a deleted department, with one audit entry each [interfaces 4]", async () => {
    getDepartmentRules().remove("dept_eng");
    for (const id of ["dept_eng", "dept_platform", "dept_infra", "dept_ml"])
      expect(getDepartment(id)).toBeUndefined();
    expect(getDepartment("dept_ops")).toBeDefined();
    expect((await listAudited()).map(([name, action]) => `${name} ${action}`).sort()).toEqual([
      "Engineering deleted",
      "Infra deleted",
      "ML deleted",
      "Platform deleted",
    ]);
  });
});
