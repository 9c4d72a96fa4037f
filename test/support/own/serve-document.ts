import { readFileSync } from "node:fs";
import type { Understudy } from "../../../src/control/understudy-options.ts";
import { openDocument } from "../../../src/documents/openapi/open-document.ts";
import { toOperationSource } from "../../../src/documents/openapi/openapi-source.ts";
import { readDocument } from "../../../src/engine/documents/read-document.ts";
import { findKeyOfUser } from "../../../src/engine/resources/api-keys/rules.ts";
import { assemble } from "../../../src/understudy.ts";

/** A server without a socket that answers a document's operations in its sandbox `default`. */
export interface ServedDocument {
  understudy: Understudy;
  /** Sends a request with the key of `usr_dan` or of another user; `null` sends no credential. */
  send(method: string, path: string, options?: SendOptions): Promise<Received>;
}

export interface SendOptions {
  body?: unknown;
  user?: string | null;
  headers?: Record<string, string>;
}

export interface Received {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: JSON of any operation
  body: any;
}

export function serveDocument(text: string, bindings?: string): ServedDocument {
  const document = openDocument(text, "openapi.yaml");
  const file = bindings === undefined ? undefined : readDocument(bindings, { file: "bindings.yaml" });
  const understudy = assemble({
    seed: 7,
    clock: { mode: "frozen", now: Date.parse("2026-03-15T12:00:00Z") },
    settings: { check_answers: "on" },
    operations: [toOperationSource({ document, bindings: file })],
  });
  return { understudy, send: sendTo(understudy) };
}

export function sendTo(understudy: Understudy): ServedDocument["send"] {
  const sandbox = understudy.sandboxes.get("default")!;
  return async (method, path, { body, user = "usr_dan", headers = {} } = {}) => {
    const isRaw = body instanceof FormData || body instanceof Uint8Array || typeof body === "string";
    const request = new Request(`http://x.test${path}`, {
      method,
      headers: {
        ...(user !== null && { "api-key": findKeyOfUser(sandbox.world.read(), user)!.key }),
        ...(!isRaw && body !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      body: isRaw ? (body as FormData) : body === undefined ? null : JSON.stringify(body),
    });
    const response = await understudy.fetch(request);
    return { status: response.status, headers: response.headers, body: await readAnswer(response) };
  };
}

async function readAnswer(response: Response): Promise<unknown> {
  const type = response.headers.get("content-type") ?? "";
  if (type.includes("json")) return response.json();
  return type.startsWith("text/") ? response.text() : response.blob();
}

export function readExample(name: string): string {
  return readFileSync(`docs/examples/${name}`, "utf8");
}
