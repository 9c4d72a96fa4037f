import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { type Api, KEYS, startReference } from "../support/harness.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const KEY = `Host: x\r\napi-key: ${KEYS.dan}\r\n`;
/** The limits are 10 s for headers and 15 s without progress of a body; the rest is for a busy machine. */
const CUT_WITHIN_MS = 60_000;

let api: Api;
let port: number;
let folder: string;
const temporary = process.env["TMPDIR"];
const opened: Socket[] = [];
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "understudy-slow-"));
  process.env["TMPDIR"] = folder;
  api = await startReference();
  port = Number(new URL(api.url).port);
});
afterAll(async () => {
  for (const socket of opened) socket.destroy();
  await api.close();
  if (temporary === undefined) delete process.env["TMPDIR"];
  else process.env["TMPDIR"] = temporary;
  expect(readdirSync(folder)).toEqual([]);
  rmSync(folder, { recursive: true });
});

/**
 * Sends the text, then either nothing more or `drip` at intervals. Resolves when the server has closed the connection.
 */
function stall(text: string, drip?: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(text));
    opened.push(socket);
    const dripping = drip && setInterval(() => socket.write(drip), 1_000);
    socket.resume();
    socket.on("error", () => {});
    socket.on("close", () => {
      clearInterval(dripping || undefined);
      resolve();
    });
  });
}

const listFormFolders = () =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.includes("form-"));

it("slow clients and 200 stalled uploads are disconnected, leave nothing behind, and other requests continue [quality 2.10, G13]", async () => {
  const announced = { filename: "a.bin", file_size: 100_000, mime_type: "text/plain" };
  const { body } = await api.call("dan", "POST", "/v1/organizations/org_acme/files/upload-url", announced);
  const { pathname, search } = new URL(body.upload_url);
  const form = `POST /v1/organizations/org_acme/files/upload HTTP/1.1\r\n${KEY}Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 100000\r\n\r\n--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nhalf`;
  const put = `PUT ${pathname}${search} HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\nhalf`;
  const json = `POST /v1/model/response HTTP/1.1\r\n${KEY}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"model`;
  const stallMany = (count: number, text: string, drip?: string) =>
    Array.from({ length: count }, () => stall(text, drip));
  const slow = [
    ...stallMany(100, form),
    ...stallMany(100, put),
    ...stallMany(100, json),
    ...stallMany(100, "GET /v1/models HTTP/1.1\r\nHost: x\r\n"),
    ...stallMany(50, "GET /v1/models HTTP/1.1\r\nHost: x\r\n", "x-a: 1\r\n"),
    ...stallMany(50, ""),
    ...stallMany(50, `GET /v1/models HTTP/1.1\r\n${KEY}\r\n`),
  ];
  const left = new Set(slow.keys());
  for (const [i, one] of slow.entries()) void one.then(() => left.delete(i));
  const deadline = Date.now() + CUT_WITHIN_MS;
  let healthy = 0;
  let received = 0;
  while (left.size > 0 && Date.now() < deadline) {
    const answers = await Promise.all([
      api.call("ada", "GET", "/v1/models"),
      api.call("hana", "POST", "/v1/auth/token"),
      api.call(undefined, "GET", "/_control/health"),
    ]);
    // The clock is frozen, so all requests are in one rate window. A refusal by the plan's limit is a correct answer
    // too.
    for (const { status } of answers) expect([200, 429]).toContain(status);
    healthy++;
    received = Math.max(received, listFormFolders().length);
    await sleep(100);
  }
  expect(healthy).toBeGreaterThan(10);
  expect([...left]).toEqual([]);
  expect(received).toBeGreaterThan(0);
  expect(listFormFolders()).toEqual([]);

  const { status } = await api.call("dan", "PUT", pathname + search, "x".repeat(100_000));
  expect(status).toBe(200);
});
