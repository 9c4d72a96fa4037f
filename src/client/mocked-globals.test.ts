import http from "node:http";
import { Socket } from "node:net";
import { setupServer } from "msw/node";
import { afterEach, describe, expect, it, vi } from "vitest";
import { unpackSandboxFile } from "../control/sandbox-file/sandbox-file.ts";
import { createUnderstudy } from "./create-understudy.ts";
import { testSandboxes } from "./test-sandbox.ts";

const OWN = ["fetch", "Response", "Headers", "TextDecoderStream"];

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** Uses the sandbox of a fixture: starts it, adds a rule, sends requests, verifies the journal, deletes it. */
async function tryFixture(url?: string): Promise<void> {
  const sandboxes = testSandboxes();
  vi.stubEnv("UNDERSTUDY_URL", url ?? "");
  try {
    await sandboxes.with(async (sandbox) => {
      await sandbox.faults.add({
        match: { operation: "models.list" },
        probability: 0,
        effect: { wire: "reset" },
      });
      await sandbox.clock.advance("6h");
      expect((await sandbox.journal.verify({ match: { operation: "models.list" }, count: 0 })).ok).toBe(true);
    })();
  } finally {
    await sandboxes.close();
    vi.unstubAllEnvs();
  }
}

/** Tests a sandbox in this process and one on a server reached over the network. */
async function tryBoth(): Promise<void> {
  const remote = await createUnderstudy();
  await tryFixture();
  await tryFixture(remote.url);
  await remote.close();
}

describe("calls of the library do not depend on what the test mocks", () => {
  it("the library works after a test has stubbed all globals [interfaces 13]", async () => {
    for (const name of OWN)
      vi.stubGlobal(name, () => {
        throw new Error(`the library used the test's ${name}`);
      });
    await expect(tryBoth()).resolves.toBeUndefined();
  });

  it("a spy on fetch and node:http sees no call of the library [interfaces 13]", async () => {
    const spies = [vi.spyOn(globalThis, "fetch"), vi.spyOn(http, "request"), vi.spyOn(http, "get")];
    await tryBoth();
    expect(spies.map((spy) => spy.mock.calls.length)).toEqual([0, 0, 0]);
  });

  it("a replaced socket connect, as in MSW 3 and nock, sees no call of the library [interfaces 13]", async () => {
    const connect = vi.spyOn(Socket.prototype, "connect");
    await tryBoth();
    expect(connect).not.toHaveBeenCalled();
  });

  it("MSW that refuses unknown requests lets all calls of the library pass [interfaces 13]", async () => {
    const network = setupServer();
    const seen: string[] = [];
    network.events.on("request:start", ({ request }) => void seen.push(request.url));
    network.listen({ onUnhandledRequest: "error" });
    try {
      await tryBoth();
    } finally {
      network.close();
    }
    expect(seen).toEqual([]);
  });

  it("fake timers and a set date neither delay the library's calls nor change the sandbox's clock [interfaces 13]", async () => {
    const before = Date.now();
    vi.useFakeTimers({ now: 0 });
    await tryBoth();
    const understudy = await createUnderstudy();
    const sandbox = await understudy.sandbox();
    await sandbox.faults.add({ match: { operation: "models.list" }, effect: { delay: "20ms" } });
    const headers = { "api-key": sandbox.credentials["usr_ada"]! };
    expect((await fetch(`${sandbox.url}/v1/models`, { headers })).status).toBe(200);
    const { ok } = await sandbox.journal.verify({ match: { status: 500 }, count: 1, within: "50ms" });
    expect(ok).toBe(false);
    expect(Date.parse((await sandbox.clock.show()).now)).toBeGreaterThanOrEqual(before);
    await understudy.close();
  });

  it("the server works where timers are numbers and streams are missing, as in jsdom [interfaces 13]", async () => {
    const { setTimeout: later, setInterval: repeat } = globalThis;
    vi.stubGlobal("setTimeout", (work: () => void, ms: number) => Number(later(work, ms)));
    vi.stubGlobal("setInterval", (work: () => void, ms: number) => Number(repeat(work, ms)));
    for (const name of ["Blob", "CompressionStream", "DecompressionStream"]) vi.stubGlobal(name, class {});
    const understudy = await createUnderstudy();
    const sandbox = await understudy.sandbox();
    const form = [
      "--b",
      'content-disposition: form-data; name="file"; filename="a.txt"',
      "",
      "a",
      "--b--",
      "",
    ].join("\r\n");
    const upload = (key: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        const url = `${sandbox.url}/v1/organizations/org_acme/files/upload`;
        const headers = { "api-key": key, "content-type": "multipart/form-data; boundary=b" };
        const request = http.request(url, { method: "POST", headers });
        request.on("error", reject).on("response", (answer) => resolve(answer.resume().statusCode));
        request.end(form + "x".repeat(key === "" ? 1_000_000 : 0));
      });
    expect(await upload(sandbox.credentials["usr_ben"]!)).toBe(201);
    expect(await upload("")).toBe(401);
    const exported = await sandbox.export();
    expect((await unpackSandboxFile(exported)).name).toBe(sandbox.name);
    await understudy.close();
  });
});
