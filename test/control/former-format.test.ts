import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Api, startReference } from "../support/harness.ts";

/** Written by the last version of that format, and copied while it ran: so kill -9 would have left it. */
const FORMER = fileURLToPath(new URL("../support/former-folder", import.meta.url));
const S = "/_control/sandboxes/default";

let folder: string;
let warnings: string[];
const open: Api[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "understudy-former-"));
  cpSync(FORMER, folder, { recursive: true });
  warnings = [];
});
afterEach(async () => {
  for (const api of open.splice(0)) await api.close();
  rmSync(folder, { recursive: true, force: true });
});

async function start(): Promise<Api> {
  const warn = (message: string) => void warnings.push(message);
  const log = { warn, error: warn, info() {} } as never;
  const api = await startReference({ persist: { folder, durable: true }, log });
  open.push(api);
  return api;
}

async function restart(): Promise<Api> {
  for (const api of open.splice(0)) await api.close();
  return start();
}

const get = async (api: Api, path: string) => (await api.call(undefined, "GET", path)).body;

async function expectTakenOver(api: Api): Promise<void> {
  // From the log of what changed after the last whole file.
  expect((await get(api, `${S}/state/departments/dept_late`)).name).toBe("Late");
  expect((await api.call(undefined, "GET", `${S}/state/departments/dept_kept`)).status).toBe(404);
  expect(await get(api, `${S}/clock`)).toMatchObject({ mode: "frozen", now: "2026-03-15T12:00:05.000Z" });
  expect((await get(api, `${S}/faults`)).items).toMatchObject([{ id: "fault_1", hits: 1 }]);
  expect((await get(api, S)).settings.processing_seconds).toBe(90);
  expect(await get(api, "/_control/sandboxes/other")).toMatchObject({
    seed: 9,
    clock: { mode: "frozen", now: "2030-01-01T00:00:00.000Z" },
  });
  expect((await get(api, `${S}/snapshots`)).items).toMatchObject([{ name: "before" }]);
}

describe("interfaces 2 --persist, a folder of the former format", () => {
  it("interfaces 2 is read once, whole file and logs, and moved aside", async () => {
    const api = await start();
    await expectTakenOver(api);
    expect(existsSync(join(folder, "sandboxes"))).toBe(false);
    expect(readdirSync(join(folder, "former-format"))).toEqual(["lock", "sandboxes"]);
    expect(warnings.join("\n")).toContain("was taken over; its files are in");
    warnings = [];
    const again = await restart();
    await expectTakenOver(again);
    expect(warnings).toEqual([]);
    await again.call(undefined, "POST", `${S}/snapshots/before/restore`);
    expect((await get(again, `${S}/state/departments/dept_kept`)).name).toBe("Kept");
  });

  it("interfaces 2 an upload that was half there goes on where it was", async () => {
    const api = await restart();
    const token = (api: Api) => {
      const root = api.understudy.sandboxes.get("default")!.world.root;
      const [upload] = [...root.tables.get("_uploads")!.all()] as { token: string }[];
      return upload!.token;
    };
    const put = (api: Api, body: string, range: string) =>
      api.call(
        undefined,
        "PUT",
        `/upload/storage/v1/b/uploads/o?uploadType=resumable&upload_id=${token(api)}`,
        body,
        { "content-range": range },
      );
    expect((await put(api, "", "bytes */10")).status).toBe(308);
    const again = await restart();
    expect((await put(again, "", "bytes */10")).headers.get("range")).toBe("bytes=0-4");
    expect((await put(again, "world", "bytes 5-9/10")).status).toBe(200);
  });

  it("interfaces 2 the copy before a damaged file is used, with the logs that continue it", async () => {
    const file = join(folder, "sandboxes/default/world.json");
    writeFileSync(file, readFileSync(file).subarray(0, 5000));
    const api = await start();
    expect((await get(api, `${S}/state/departments/dept_late`)).name).toBe("Late");
  });

  it("interfaces 2 a file of the right length with a wrong byte is damaged too", async () => {
    const file = join(folder, "sandboxes/default/world.json");
    const text = readFileSync(file, "utf8");
    expect(text).toContain('"processing_seconds":90');
    writeFileSync(file, text.replace('"processing_seconds":90', '"processing_seconds":91'));
    const api = await start();
    expect((await get(api, S)).settings.processing_seconds).not.toBe(91);
    expect((await get(api, `${S}/state/departments/dept_late`)).name).toBe("Late");
  });

  it("interfaces 2 a log counts up to its first line with a wrong byte", async () => {
    const file = join(folder, "sandboxes/default/changes.3.log");
    const text = readFileSync(file, "utf8");
    expect(text).toContain('"name":"Late"');
    writeFileSync(file, text.replace('"name":"Late"', '"name":"Lake"'));
    const api = await start();
    expect((await api.call(undefined, "GET", `${S}/state/departments/dept_late`)).status).toBe(404);
  });

  it("interfaces 2 a sandbox of which nothing is whole does not keep the others from being taken over", async () => {
    for (const name of ["world.json", "world.json.previous"]) {
      writeFileSync(join(folder, "sandboxes/default", name), "{");
    }
    const api = await start();
    expect(warnings.join("\n")).toMatch(/Sandbox default could not be taken over .* is damaged/);
    expect((await get(api, "/_control/sandboxes/other")).seed).toBe(9);
    expect((await get(api, S)).seed).toBe(1);
  });

  it("interfaces 2 one of a newer version, or in use by a server of that version, is not touched", async () => {
    writeFileSync(join(folder, "lock"), JSON.stringify({ pid: process.pid }));
    await expect(start()).rejects.toThrow(`${folder} is in use by process ${process.pid}`);
    expect(readdirSync(folder).sort()).toEqual(["lock", "sandboxes"]);
  });
});
