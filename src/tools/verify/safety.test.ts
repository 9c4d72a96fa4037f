import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { RESOURCES } from "../../engine/resources/index.ts";
import { InputError } from "../input.ts";
import { listChecks } from "./checks/index.ts";
import { Contract } from "./contract.ts";
import { changesNothing, inventId, isInventedId } from "./exchange.ts";
import { runVerify } from "./run-verify.ts";
import { Target } from "./target.ts";

const KEY = "ak_0123456789012345678901234567890123456789";
const CONTRACT = new Contract(RESOURCES);
const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

interface Received {
  method: string;
  path: string;
  authenticated: boolean;
  body: string;
}

/** A service that requires no credentials and carries out every request. */
async function startObedient(): Promise<{ url: string; received: Received[] }> {
  const received: Received[] = [];
  const server = createServer(async (request: IncomingMessage, answer) => {
    let body = "";
    for await (const piece of request) body += String(piece);
    const { method = "", url = "", headers } = request;
    const authenticated = "api-key" in headers || "x-api-key" in headers || "authorization" in headers;
    received.push({ method, path: url, authenticated, body });
    answer.setHeader("service-organization", "org_real");
    answer.setHeader("content-type", "application/json");
    answer.end(
      JSON.stringify({
        assistant_id: "asst_real",
        session_id: "mbsess_real",
        jobs: [{ job_id: "job_real" }],
      }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received };
}

const run = (target: string, write: boolean) =>
  runVerify({
    contract: CONTRACT,
    target,
    key: KEY,
    write,
    version: "0",
    signal: new AbortController().signal,
    wait: async () => {},
  });

describe("verify's options", () => {
  it.each([
    ["/v1", KEY, /must be an http or https URL/],
    ["ftp://127.0.0.1:1", KEY, /must be an http or https URL/],
    ["http://127.0.0.1:1/v1/", KEY, /leave the version out of --target: http:..127.0.0.1:1$/],
    ["http://u:p@127.0.0.1:1", KEY, /must not contain credentials/],
    ["http://127.0.0.1:1/?a=b", KEY, /without query or fragment/],
    ["http://127.0.0.1:1", "a b", /one word/],
    ["http://127.0.0.1:1", "ключ", /one word/],
  ])("%s with the key %s are refused [interfaces 2]", async (target, key, message) => {
    const signal = new AbortController().signal;
    const about = { target, key, write: false, version: "0" };
    const options = { contract: CONTRACT, ...about, signal, wait: async () => {} };
    await expect(runVerify(options)).rejects.toThrow(message);
    await expect(runVerify(options)).rejects.toBeInstanceOf(InputError);
  });
});

describe("verify without --write", () => {
  it("leaves a service unchanged even if the service carries out every request [interfaces 2]", async () => {
    const { url, received } = await startObedient();
    const report = await run(url, false);
    expect(report.verdict).toBe("fail");
    expect(received.length).toBeGreaterThan(100);
    const writing = received.filter(({ method }) => method !== "GET");
    // 4.16 reads by POST. All other requests that are not GET have neither credentials nor a body.
    const others = writing.filter(({ path }) => !path.endsWith("/dashboard/change-logs"));
    expect(others.length).toBeGreaterThan(15);
    expect(others.filter(({ authenticated, body }) => authenticated || body !== "")).toEqual([]);
    expect(others.filter(({ path }) => /real/.test(path))).toEqual([]);
    expect(report.checks.filter(({ family }) => family === "writes")).toEqual([]);
  });

  it("has the same plan, except for the checks that write [interfaces 2]", () => {
    const reading = listChecks(CONTRACT, { write: false });
    expect(reading.filter(({ family }) => family === "writes")).toEqual([]);
    const rest = listChecks(CONTRACT, { write: true }).filter(({ family }) => family !== "writes");
    expect(rest.map(({ id }) => id)).toEqual(reading.map(({ id }) => id));
    expect(new Set(listChecks(CONTRACT, { write: true }).map(({ id }) => id)).size).toBe(
      listChecks(CONTRACT, { write: true }).length,
    );
  });

  it("refuses to send a request that changes something [interfaces 2]", async () => {
    const { url, received } = await startObedient();
    const target = new Target({
      ...{ url, key: KEY, write: false, timeoutMs: 1000, wait: async () => {}, userAgent: "test" },
      signal: new AbortController().signal,
    });
    for (const operation of CONTRACT.operations.filter(
      ({ method, id }) => method !== "GET" && id !== "change_logs.list",
    )) {
      const params = Object.fromEntries(
        Object.keys(operation.params?.properties ?? {}).map((name) => [name, "some_real"]),
      );
      await expect(target.send({ operation, params }), operation.id).rejects.toThrow(/without --write/);
      await expect(target.send({ operation, params, credential: "none", body: {} })).rejects.toThrow();
    }
    expect(received).toEqual([]);
  });

  it("names no existing object in a call without credentials [interfaces 2]", () => {
    const operation = CONTRACT.getOperation("threads.delete");
    expect(
      changesNothing({ operation, credential: "none", params: { thread_id: inventId("thread_") } }),
    ).toBe(true);
    expect(changesNothing({ operation, credential: "none", params: { thread_id: "thread_real" } })).toBe(
      false,
    );
    expect(changesNothing({ operation, params: { thread_id: inventId("thread_") } })).toBe(false);
    expect(isInventedId("thread_real")).toBe(false);
  });
});
