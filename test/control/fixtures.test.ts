import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { type Api, EPOCH, startReference } from "../support/harness.ts";

let api: Api | undefined;
afterEach(async () => {
  await api?.close();
  api = undefined;
});

const HOUR = 3_600_000;
const given = "2026-03-14T10:00:00.000Z";
const fixture = {
  extends: "reference",
  departments: [{ id: "dept_eng", created_at: given }],
  api_keys: [{ id: "apikey_dan", expires_at: "2026-03-15T13:00:00.000Z" }],
};

async function getCreationTime(who: "ada"): Promise<string> {
  const path = "/v1/organizations/org_acme/departments/dept_eng/reparent";
  const { body } = await api!.call(who, "POST", path, { new_parent_id: "dept_ops" });
  return body.created_at;
}

const asDan = async () => (await api!.call("dan", "GET", "/v1/models")).status;

describe("a fixture's timestamps", () => {
  it("are as written for a sandbox whose clock is frozen at the epoch [interfaces 5]", async () => {
    api = await startReference({ fixture });
    expect(await getCreationTime("ada")).toBe(given);
    expect(await asDan()).toBe(200);
    await api.advance(HOUR + 1);
    expect(await asDan()).toBe(401);
  });

  it("all shift with a sandbox that starts at another time [interfaces 5]", async () => {
    const later = Date.parse("2031-07-01T00:00:00.000Z");
    api = await startReference({ fixture, clock: { mode: "frozen", now: later } });
    const shifted = new Date(Date.parse(given) + later - Date.parse(EPOCH)).toISOString();
    expect(await getCreationTime("ada")).toBe(shifted);
    expect(await asDan()).toBe(200);
    await api.advance(HOUR + 1);
    expect(await asDan()).toBe(401);
  });

  it("are relative to the fixture's own epoch if it has one [interfaces 5]", async () => {
    api = await startReference({ fixture: { ...fixture, epoch: "2026-03-14T12:00:00.000Z" } });
    expect(await getCreationTime("ada")).toBe(new Date(Date.parse(given) + 24 * HOUR).toISOString());
  });
});

describe("a fixture given over the control API", () => {
  const folder = mkdtempSync(join(tmpdir(), "understudy-fixtures-"));
  const file = join(folder, "world.yaml");
  writeFileSync(file, "organizations: [{ id: org_secret, name: a line that nobody may read }]\noops: true\n");
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const paths = [file, "/etc/passwd", "../../etc/passwd", "./package.json", "world.yaml", "c:\\world", "."];
  const asked = paths.flatMap((path) => [
    ["fixture", path, { fixture: path }] as const,
    ["fixture.extends", path, { fixture: { extends: path } }] as const,
  ]);
  it.each(asked)("reads no file: %s %s is refused [interfaces 4]", async (field, path, body) => {
    api = await startReference();
    const before = (await api.call(undefined, "GET", "/_control/sandboxes")).text;
    for (const call of ["/_control/sandboxes", "/_control/sandboxes/default/reset"]) {
      const answer = await api.call(undefined, "POST", call, body);
      expect(answer.status).toBe(422);
      expect(answer.body).toMatchObject({ field, value: path });
      expect(answer.body.detail).toContain("the control API reads no files");
      expect(answer.text).not.toContain("nobody may read");
    }
    expect((await api.call(undefined, "GET", "/_control/sandboxes")).text).toBe(before);
  });

  it("is a name, a value, or a value that extends a name [interfaces 4]", async () => {
    api = await startReference();
    const make = async (fixture: unknown) =>
      (await api!.call(undefined, "POST", "/_control/sandboxes", { fixture })).status;
    expect(await make("reference")).toBe(201);
    expect(await make({ organizations: [{ id: "org_a" }] })).toBe(201);
    expect(await make({ extends: "reference", departments: [{ id: "dept_new" }] })).toBe(201);
  });
});

describe("the default fixture", () => {
  it("is the reference world, by name as by its text [interfaces 5]", async () => {
    const path = "/v1/analytics/usage/limits/org_acme";
    api = await startReference();
    const fromText = await api.call("ada", "GET", path);
    await api.close();
    api = await startReference({ fixture: "reference" });
    const byName = await api.call("ada", "GET", path);
    expect(byName.status).toBe(200);
    expect(byName.text).toBe(fromText.text);
    await api.close();
    api = await startReference({ fixture: undefined });
    expect((await api.call("ada", "GET", path)).text).toBe(fromText.text);
  });
});
