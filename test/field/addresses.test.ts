import { once } from "node:events";
import http from "node:http";
import https from "node:https";
import type { AddressInfo, Server } from "node:net";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { connect } from "../../src/client/connect.ts";
import { readHttpUrl } from "../../src/engine/contract/http-url.ts";
import { startReference } from "../support/harness.ts";
import { TEST_CERTIFICATE, TEST_KEY } from "../support/receivers/test-certificate.ts";
import { removeTempFolders, runCommand } from "../support/run-understudy.ts";

let servers: Server[] = [];
afterEach(() => {
  for (const server of servers) server.close();
  servers = [];
});
afterAll(removeTempFolders);

async function readPort(server: http.Server | https.Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  servers.push(server);
  return (server.address() as AddressInfo).port;
}

describe("an address in a common short form", () => {
  it.each([
    ["localhost:3000/x", "http://localhost:3000/x"],
    ["127.0.0.1:3000", "http://127.0.0.1:3000/"],
    ["[::1]:3000/x?y=1", "http://[::1]:3000/x?y=1"],
    ["receiver.test/hook", "http://receiver.test/hook"],
    [":3000", "http://localhost:3000/"],
    ["3000/hook", "http://localhost:3000/hook"],
    ["localhost", "http://localhost/"],
    ["api:8080", "http://api:8080/"],
    // A service name of Docker Compose.
    ["api", "http://api/"],
    ["http-receiver/hook?x=http://a.test", "http://http-receiver/hook?x=http://a.test"],
    ["http://api/hook", "http://api/hook"],
    [" HTTPS://Receiver.test/Hook ", "https://receiver.test/Hook"],
  ])("is completed: %s", (given, meant) => {
    expect(String(readHttpUrl(given))).toBe(meant);
  });

  it.each(["", "/", "/default/timeline?q=x", "#top"])(
    "may be the console's, with %j behind it",
    async (view) => {
      const port = await readPort(http.createServer((request, response) => response.end(request.url)));
      const { stderr } = await runCommand(["status", "--url", `127.0.0.1:${port}/base/_console${view}`]);
      expect(stderr).toContain(`The server at http://127.0.0.1:${port}/base is not Understudy`);
    },
  );

  it.each([
    "http://mine.localhost:PORT",
    "http://127.0.0.1:PORT/_s/mine",
    "127.0.0.1:PORT/_console/s/mine/faults",
    "http://127.0.0.1:PORT/_control/sandboxes/mine",
  ])("may name the sandbox on which a command acts: %s [interfaces 3]", async (address) => {
    const api = await startReference();
    await api.call(undefined, "POST", "/_control/sandboxes", { name: "mine" });
    await api.call(undefined, "POST", "/_control/sandboxes", { name: "other" });
    const url = address.replace("PORT", new URL(api.url).port);
    const byAddress = await runCommand(["reset", "--url", url]);
    const reset: string[] = [byAddress.stdout.split(" ")[0]!];
    for (const name of ["other", "default"])
      reset.push((await runCommand(["reset", "--sandbox", name, "--url", url])).stdout.split(" ")[0]!);
    expect(reset).toEqual(["mine", "other", "default"]);
    const { stderr, code } = await runCommand(["mcp", "--url", url]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("without a sandbox; the model names mine")]);
    const byVariable = await runCommand(["mcp"], { env: { UNDERSTUDY_URL: url } });
    expect(byVariable.stderr).toContain("UNDERSTUDY_URL takes the server's address");
    await api.close();
  });

  it.each([null, 5, {}])("must be a text, also for callers in JavaScript: %j", (given) => {
    expect(() => connect(given as never)).toThrow("is not a server's address");
    expect(readHttpUrl(given as never)).toContain("must be an http or https URL");
  });

  it.each([
    ...[
      "",
      "/hook",
      "http://",
      "http:///hook",
      "http//localhost/x",
      "http:/localhost",
      "https",
      "localhost:/x",
      "a b",
    ],
    ...["ftp://localhost/x", "ws://localhost/", "file:/tmp/x", "localhost:port", "localhost:99999"],
  ])("is refused as %j", (given) => {
    expect(readHttpUrl(given)).toMatch(/^must be an http or https URL, such as http:/);
  });

  it.each(["http://me:pw@host/x", "mailto:ada@acme.test"])(
    "is refused for its credentials as %j",
    (given) => {
      expect(readHttpUrl(given)).toBe("must not contain credentials");
    },
  );
});

const SECRET = ["--secret", "whsec_1"];

describe("an option with an address", () => {
  it.each([
    ["--forward-to", ["listen", "--forward-to", "ftp://127.0.0.1/x"]],
    ["the endpoint", ["receiver-test", "ftp://127.0.0.1/x", ...SECRET]],
    ["--probe", ["receiver-test", "http://127.0.0.1/x", ...SECRET, "--probe", "ftp://127.0.0.1/x"]],
    ["--target", ["record", "--target", "ftp://127.0.0.1/x", "--out", "x.har"]],
    ["--target", ["verify", "--target", "ftp://127.0.0.1/x", "--key", "ak_1"]],
    ["it is the base URL of the service, or of a sandbox", ["verify", "--target", "/v1", "--key", "ak_1"]],
    ["ftp", ["status", "--url", "ftp://127.0.0.1/x"]],
  ])("refuses a wrong scheme with one sentence: %s %j", async (says, args) => {
    const { code, stderr } = await runCommand(args);
    expect(stderr).toContain(says);
    expect(stderr).toMatch(/must be an http or https URL|is not a server's address/);
    expect(stderr.trim().split("\n")).toHaveLength(1);
    expect(code).toBe(2);
  });

  it("completes a host and a port, also in the receiver test", async () => {
    const called: (string | undefined)[] = [];
    const port = await readPort(
      http.createServer((request, response) => {
        called.push(request.url);
        response.end("0");
      }),
    );
    const args = [
      `localhost:${port}/hook`,
      ...SECRET,
      "--probe",
      `:${port}/count`,
      "--only",
      "valid-accepted",
    ];
    expect((await runCommand(["receiver-test", ...args])).stdout).toContain(`http://localhost:${port}/hook`);
    expect(new Set(called)).toEqual(new Set(["/hook", "/count"]));
  });

  it("names http and https in the message if one was used for the other", async () => {
    const [plain, secure] = [
      await readPort(http.createServer((_, response) => response.end())),
      await readPort(https.createServer({ cert: TEST_CERTIFICATE, key: TEST_KEY })),
    ];
    const readError = async (url: string) => (await runCommand(["status", "--url", url])).stderr;
    expect(await readError(`https://127.0.0.1:${plain}`)).toContain("speaks plain HTTP. Write http://");
    expect(await readError(`http://127.0.0.1:${secure}`)).toContain(
      "If that port speaks TLS, write https://",
    );
    const gradeUrl = async (url: string) => (await runCommand(["receiver-test", url, ...SECRET])).stdout;
    expect(await gradeUrl(`https://127.0.0.1:${plain}`)).toContain("write http:// in place of https://");
    expect(await gradeUrl(`http://127.0.0.1:${secure}`)).toContain("https server that is called by http");
  });
});
