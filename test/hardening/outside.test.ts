import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it, onTestFinished, vi } from "vitest";
import { eventually } from "../support/eventually.ts";
import { type Api, startReference } from "../support/harness.ts";

const temporary = process.env["TMPDIR"];
let api: Api | undefined;
afterEach(async () => {
  await api?.close();
  api = undefined;
  if (temporary === undefined) delete process.env["TMPDIR"];
  else process.env["TMPDIR"] = temporary;
});

it("4.6 a temporary folder that somebody removed is made again", async () => {
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
  await api.close();
  api = undefined;
  expect(readdirSync(folder)).toEqual([]);
  rmSync(folder, { recursive: true });
});

it("interfaces 2 a full temporary folder is 507 and undone, and there is room again afterwards", async ({
  skip,
}) => {
  const folder = mkdtempSync(join(tmpdir(), "understudy-full-"));
  onTestFinished(() => {
    spawnSync("umount", [folder]);
    rmSync(folder, { recursive: true, force: true });
  });
  if (spawnSync("mount", ["-t", "tmpfs", "-o", "size=256k", "tmpfs", folder]).status !== 0)
    return skip("no file system of its own could be mounted");
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
])("interfaces 2 a connection that %s does not hold up the end", async (_what, sent) => {
  api = await startReference();
  const server = api.understudy.server;
  const socket = connect(Number(new URL(api.url).port), "127.0.0.1");
  const count = () =>
    new Promise<number>((resolve, reject) => server.getConnections((e, n) => (e ? reject(e) : resolve(n))));
  await eventually(async () => expect(await count()).toBe(1));
  socket.on("error", () => {});
  socket.resume();
  if (sent !== "") await new Promise<void>((resolve) => socket.write(sent, () => resolve()));
  if (sent.includes("\r\n\r\n")) await new Promise((resolve) => socket.once("data", resolve));
  const cut = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  // Those who talk are cut after a while; whoever does not is not waited for at all.
  const waited = vi.spyOn(server, "closeAllConnections");
  await api.close();
  await cut;
  expect(waited).not.toHaveBeenCalled();
  api = undefined;
});
