import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, expect, it, onTestFinished, vi } from "vitest";
import { waitUntil, waitUntilPasses } from "../support/eventually.ts";
import { type Api, startReference } from "../support/harness.ts";

const temporary = process.env["TMPDIR"];
let api: Api | undefined;
afterEach(async () => {
  await api?.close();
  api = undefined;
  if (temporary === undefined) delete process.env["TMPDIR"];
  else process.env["TMPDIR"] = temporary;
});

it("a removed temporary folder is created again [4.6]", async () => {
  const folder = mkdtempSync(join(tmpdir(), "understudy-outside-"));
  process.env["TMPDIR"] = folder;
  api = await startReference();
  const send = async () => {
    const form = new FormData();
    form.append("file", new File(["words"], "a.txt", { type: "text/plain" }));
    return (await api!.call("dan", "POST", "/v1/organizations/org_acme/files/upload", form)).status;
  };
  expect(await send()).toBe(201);
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
  expect(await send()).toBe(201);
  rmSync(folder, { recursive: true });
  expect(await send()).toBe(201);
  await api.close();
  // The folder may also disappear before the first upload.
  rmSync(folder, { recursive: true });
  api = await startReference();
  rmSync(folder, { recursive: true, force: true });
  expect(await send()).toBe(201);
  await api.close();
  api = undefined;
  expect(readdirSync(folder)).toEqual([]);
  rmSync(folder, { recursive: true });
});

it("a full temporary folder is answered 507, the change is undone, and uploads succeed again when there is room [interfaces 2]", async ({
  skip,
}) => {
  const folder = mkdtempSync(join(tmpdir(), "understudy-full-"));
  onTestFinished(() => {
    spawnSync("umount", [folder]);
    rmSync(folder, { recursive: true, force: true });
  });
  if (spawnSync("mount", ["-t", "tmpfs", "-o", "size=256k", "tmpfs", folder]).status !== 0)
    return skip("no separate file system could be mounted");
  process.env["TMPDIR"] = folder;
  api = await startReference();
  const send = (size: number) => {
    const form = new FormData();
    form.append("file", new File(["x".repeat(size)], "a.txt", { type: "text/plain" }));
    return api!.call("dan", "POST", "/v1/organizations/org_acme/files/upload", form);
  };
  const announced = { filename: "a.bin", file_size: 600_000, mime_type: "application/octet-stream" };
  const place = await api.call("dan", "POST", "/v1/organizations/org_acme/files/upload-url", announced);
  const put = new URL(place.body.upload_url);
  for (const refused of [
    await send(600_000),
    await api.call("dan", "PUT", put.pathname + put.search, "y".repeat(600_000)),
  ]) {
    expect([refused.status, refused.headers.get("x-sandbox-decision")]).toEqual([507, "store"]);
    expect(refused.headers.get("content-type")).toBe("application/problem+json");
    expect(refused.body.detail).toMatch(
      new RegExp(
        `^There is no room left for ${folder}/understudy-uploads-[\\w-]+ \\(ENOSPC\\)\\. Free some space`,
      ),
    );
  }
  expect((await api.call("dan", "DELETE", put.pathname + put.search)).status).toBe(499);
  expect((await send(1000)).status).toBe(201);
  await api.close();
  api = undefined;
});

it.each([
  ["has never said a word", ""],
  ["has sent half a head", "GET /v1/models HTTP/1.1\r\nHost: x\r\n"],
  ["has sent half of a second head", "GET /_control/health HTTP/1.1\r\nHost: x\r\n\r\nGET /_control"],
])("a connection that %s does not delay the end of the server [interfaces 2]", async (_what, sent) => {
  api = await startReference();
  const server = api.understudy.server;
  const socket = connect(Number(new URL(api.url).port), "127.0.0.1");
  const count = () =>
    new Promise<number>((resolve, reject) => server.getConnections((e, n) => (e ? reject(e) : resolve(n))));
  await waitUntilPasses(async () => expect(await count()).toBe(1));
  socket.on("error", () => {});
  socket.resume();
  if (sent !== "") await new Promise<void>((resolve) => socket.write(sent, () => resolve()));
  if (sent.includes("\r\n\r\n")) await new Promise((resolve) => socket.once("data", resolve));
  const cut = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  // The server closes active connections after a delay. It must not wait for idle ones.
  const waited = vi.spyOn(server, "closeAllConnections");
  await api.close();
  await cut;
  expect(waited).not.toHaveBeenCalled();
  api = undefined;
});

it("a server without free descriptors continues once some are free, and loses nothing that it acknowledged [interfaces 2]", async () => {
  const folder = mkdtempSync(join(tmpdir(), "understudy-descriptors-"));
  const ready = join(folder, "ready.json");
  const bin = fileURLToPath(new URL("../../bin/understudy.js", import.meta.url));
  const data = join(folder, "data");
  const line = `ulimit -n 48; exec '${process.execPath}' '${bin}' start --quiet --port 0 --ready-file '${ready}' --persist '${data}' --durable`;
  const server = spawn("sh", ["-c", line], { cwd: folder, stdio: "ignore" });
  const ended = once(server, "exit");
  const sockets: Socket[] = [];
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  });
  await waitUntil(() => existsSync(ready));
  const { url } = JSON.parse(readFileSync(ready, "utf8"));
  const create = async (name: string) => {
    const init = { method: "POST", headers: { "content-type": "application/json" } };
    return (await fetch(`${url}/_control/sandboxes`, { ...init, body: JSON.stringify({ name }) })).status;
  };
  expect(await create("before")).toBe(201);
  for (let i = 0; i < 100; i++) {
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.on("error", () => {});
    sockets.push(socket);
  }
  await waitUntil(() => sockets.every((socket) => !socket.connecting));
  for (const socket of sockets) socket.destroy();
  // The server frees the descriptors of closed connections one by one.
  await waitUntil(async () => (await create("after")) === 201);
  server.kill("SIGTERM");
  expect(await ended).toEqual([0, null]);
  const again = await startReference({ persist: { folder: data } });
  expect([...again.understudy.sandboxes.all()].map(({ name }) => name).sort()).toEqual([
    ...["after", "before", "default"],
  ]);
  await again.close();
});
