import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import type { Api, ApiResponse, Caller } from "./harness.ts";

/** Makes the server use a private temporary folder, so that a test can read its files. */
export function createPrivateTempFolder() {
  const before = process.env["TMPDIR"];
  const folder = mkdtempSync(join(tmpdir(), "uploads-test-"));
  process.env["TMPDIR"] = folder;
  const listFiles = () =>
    (readdirSync(folder, { recursive: true, withFileTypes: true }) as import("node:fs").Dirent[])
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort();
  return {
    folder,
    /** Lists the paths of all files in the folder. */
    files: listFiles,
    /** Returns the contents of all files, in the order of their names. */
    bytes: () => Buffer.concat(listFiles().map((path) => readFileSync(path))),
    entries: () => readdirSync(folder),
    remove() {
      if (before === undefined) delete process.env["TMPDIR"];
      else process.env["TMPDIR"] = before;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export const MB = 1024 * 1024;

/** Returns bytes without a pattern, so that a lost or doubled piece shows. */
export function makeNoise(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  let state = 1;
  for (let i = 0; i + 4 <= length; i += 4) {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    bytes.writeInt32LE(state, i);
  }
  return bytes;
}

export interface Announced {
  filename: string;
  file_size: number;
  mime_type: string;
}

export interface UploadUrl {
  upload_url: string;
  gcs_path: string;
  expires_at: string;
  method: string;
}

const ORGANIZATION = "/v1/organizations/org_acme";

export async function announce(api: Api, fields: Partial<Announced> = {}, who: Caller = "dan") {
  const announced = { filename: "notes.txt", file_size: 10, mime_type: "text/plain", ...fields };
  const answer = await api.call(who, "POST", `${ORGANIZATION}/files/upload-url`, announced);
  if (answer.status !== 200) throw new Error(answer.text);
  return { announced, ...(answer.body as UploadUrl) };
}

export async function put(url: string, body?: string | Uint8Array, headers: Record<string, string> = {}) {
  const response = await fetch(url, { method: "PUT", headers, body });
  const text = await response.text();
  return {
    status: response.status,
    range: response.headers.get("range"),
    decision: response.headers.get("x-sandbox-decision"),
    body: text === "" ? undefined : JSON.parse(text),
  };
}

export const probe = (url: string, total: number | "*" = "*") =>
  put(url, undefined, { "content-range": `bytes */${total}` });

export const chunk = (url: string, bytes: string | Uint8Array, start: number, total: number | "*") =>
  put(url, bytes, {
    "content-range": `bytes ${start}-${start + Buffer.byteLength(bytes) - 1}/${total}`,
  });

/** Announces, uploads and registers a file. Returns the file object. */
export async function uploadFile(api: Api, content: string, fields: Partial<Announced> = {}) {
  const { announced, upload_url, gcs_path } = await announce(api, {
    file_size: Buffer.byteLength(content),
    ...fields,
  });
  await put(upload_url, content);
  const answer = await api.call("dan", "POST", `${ORGANIZATION}/files`, { ...announced, gcs_path });
  if (answer.status !== 201) throw new Error(answer.text);
  return answer.body;
}

/** Starts a TCP relay that cuts one connection after the server has received `cutAfter` bytes. */
export async function startCuttingRelay(target: string, cutAfter: number) {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let passed = 0;
  let cuts = 0;
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    upstream.pipe(client);
    client.on("data", (bytes) => {
      passed += bytes.length;
      if (cuts === 0 && passed > cutAfter) {
        cuts += 1;
        client.pause();
        upstream.end(() => client.destroy());
      } else if (!upstream.write(bytes)) {
        client.pause();
        upstream.once("drain", () => client.resume());
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cuts: () => cuts,
    close() {
      for (const socket of sockets) socket.destroy();
      return new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** Sends the head of a request and some bytes of its body, then disconnects. */
export function sendAndDisconnect(
  url: string,
  head: { method: string; headers: object },
  bytes: Uint8Array,
  arrived?: () => Promise<void>,
) {
  const { hostname, port, pathname, search, host } = new URL(url);
  return new Promise<void>((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      const lines = Object.entries({ host, ...head.headers }).map(([name, value]) => `${name}: ${value}`);
      socket.write(`${head.method} ${pathname}${search} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
      socket.write(bytes, () => {
        Promise.resolve(arrived?.())
          .catch(reject)
          .finally(() => socket.destroy());
      });
    });
    socket.on("error", () => {});
    socket.on("close", () => resolve());
  });
}

/** Creates a form with one file. */
export function createFileForm(
  content: string | Uint8Array,
  { name = "notes.txt", type = "text/plain" } = {},
): FormData {
  const form = new FormData();
  form.append(
    "file",
    new Blob([typeof content === "string" ? content : new Uint8Array(content)], { type }),
    name,
  );
  return form;
}

export function expectInvalid(answer: ApiResponse, field: string, value?: unknown): void {
  expect(answer.status, answer.text).toBe(422);
  expect(answer.body.error.code).toBe("INVALID_INPUT");
  expect(answer.body.error.details.field).toBe(field);
  if (value !== undefined) expect(answer.body.error.details.value).toEqual(value);
}
