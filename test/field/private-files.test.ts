import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it, vi } from "vitest";
import { KEYS, startReference } from "../support/harness.ts";
import { createTempFolder, removeTempFolders, runCommand, startServer } from "../support/run-understudy.ts";
import { createFileForm, createPrivateTempFolder } from "../support/upload-setup.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });
afterAll(removeTempFolders);

/** Lists the folder and everything in it that other users may read, as path and mode. */
function listReadableByOthers(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true }) as string[];
  return [folder, ...names.map((name) => join(folder, name))].flatMap((path) => {
    const { mode } = statSync(path);
    return mode & 0o077 ? [`${path} ${(mode & 0o777).toString(8)}`] : [];
  });
}

const ORGANIZATION = "/v1/organizations/org_acme";

async function beginUpload(url: string): Promise<void> {
  const headers = { "api-key": KEYS.dan, "content-type": "application/json" };
  const announced = { filename: "secret.txt", file_size: 10, mime_type: "text/plain" };
  const response = await fetch(`${url}${ORGANIZATION}/files/upload-url`, {
    method: "POST",
    headers,
    body: JSON.stringify(announced),
  });
  const { upload_url } = (await response.json()) as { upload_url: string };
  const range = { "content-range": "bytes 0-4/10" };
  expect((await fetch(upload_url, { method: "PUT", headers: range, body: "01234" })).status).toBe(308);
}

describe("other users of the machine cannot read", () => {
  it.each(["DIR", "FILE.json"])("files of --persist %s, uploads included", async (kind) => {
    const folder = join(createTempFolder(), "kept");
    if (kind !== "DIR") mkdirSync(folder, { mode: 0o700 });
    const target = kind === "DIR" ? folder : join(folder, "world.json");
    for (let start = 0; start < 2; start++) {
      const server = await startServer(["--persist", target]);
      await beginUpload(server.ready.url);
      await server.stop();
      expect(listReadableByOthers(folder)).toEqual([]);
    }
  });

  it("bytes of uploads, forms and imported snapshots in the temporary folder", async () => {
    const own = createPrivateTempFolder();
    const api = await startReference();
    try {
      await beginUpload(api.url);
      const name = { name: "with-bytes" };
      const S = "/_control/sandboxes/default/snapshots";
      expect((await api.call(undefined, "POST", S, name)).status).toBe(201);
      const saved = await api.call(undefined, "GET", `${S}/with-bytes`);
      expect((await api.call(undefined, "PUT", `${S}/copy`, saved.body)).status).toBe(201);
      const sending = api.call(
        "dan",
        "POST",
        `${ORGANIZATION}/files/upload`,
        createFileForm("x".repeat(2_000_000)),
      );
      const modes = new Set<number>();
      let isSent = false;
      void sending.finally(() => {
        isSent = true;
      });
      while (!isSent) {
        for (const file of own.files())
          modes.add((statSync(file, { throwIfNoEntry: false })?.mode ?? 0o600) & 0o777);
        await new Promise(setImmediate);
      }
      expect([...modes]).toEqual([0o600]);
      expect(own.files().length).toBeGreaterThan(1);
    } finally {
      await api.close();
      own.remove();
    }
  });

  it("recordings, or fixtures from them", async () => {
    const api = await startReference();
    const folder = createTempFolder();
    await api.call("ada", "GET", `${ORGANIZATION}/models`);
    await api.call("dan", "GET", "/v1/models");
    const { body } = await api.call(undefined, "GET", "/_control/sandboxes/default/journal.har");
    await api.close();
    writeFileSync(join(folder, "traffic.har"), JSON.stringify(body));
    chmodSync(join(folder, "traffic.har"), 0o600);
    const made = await runCommand(["fixture", "from-har", "traffic.har", "--out", "seen.yaml"], {
      cwd: folder,
    });
    expect(made.code, made.stderr).toBe(0);
    expect(listReadableByOthers(folder)).toEqual([]);
  });
});
