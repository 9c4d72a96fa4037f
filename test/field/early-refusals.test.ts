import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Api, KEYS, startReference } from "../support/harness.ts";
import { runJava, runPython, runRequests } from "../support/real-clients.ts";
import { createTempFolder, removeTempFolders } from "../support/run-understudy.ts";

const MIB = 1024 * 1024;
let api: Api;
let port: number;
beforeAll(async () => {
  api = await startReference();
  port = Number(new URL(api.url).port);
  const { body } = await api.call("ada", "POST", "/_control/sandboxes/default/receivers", {});
  receiver = new URL(body.url).pathname;
});
afterAll(async () => {
  await api.close();
  removeTempFolders();
});

const REPARENT = "/v1/organizations/org_acme/departments/dept_ml/reparent";
let receiver: string;

interface Early {
  name: string;
  status: number;
  head: readonly string[];
}

const key = `api-key: ${KEYS.ada}`;
const JSON_TYPE = "Content-Type: application/json";
const post = (path: string, ...headers: string[]) => [`POST ${path} HTTP/1.1`, "Host: localhost", ...headers];

const EARLY: readonly Early[] = [
  { name: "without credentials", status: 401, head: post(REPARENT, JSON_TYPE) },
  { name: "to an unknown path", status: 404, head: post("/v1/nowhere", key) },
  { name: "to an unknown sandbox", status: 404, head: post("/_s/nobody/v1/models", key) },
  { name: "with a method that the path lacks", status: 405, head: post("/v1/models", key) },
  { name: "over its rate", status: 429, head: post(REPARENT, "X-Sandbox-Fault: RATE_LIMIT_EXCEEDED") },
  { name: "answered by a fault", status: 403, head: post(REPARENT, "Prefer: code=403") },
  { name: "with an unknown override", status: 400, head: post(REPARENT, "X-Sandbox-Fault: no") },
  { name: "to an unknown call of the control API", status: 404, head: post("/_control/nowhere") },
  { name: "by a foreign page", status: 403, head: post("/_control/sandboxes", "Origin: http://a.test") },
  { name: "to a foreign name", status: 403, head: ["POST /_control/x HTTP/1.1", "Host: a.test"] },
  { name: "to the console", status: 405, head: post("/_console/") },
  { name: "to no mount", status: 404, head: post("/_nowhere") },
  { name: "without a Host", status: 400, head: [`POST ${REPARENT} HTTP/1.1`] },
  { name: "with two lengths", status: 400, head: post(REPARENT, "Content-Length: 1") },
  { name: "with headers over the limit", status: 431, head: post(REPARENT, `X-A: ${"a".repeat(40_000)}`) },
  { name: "with CONNECT", status: 405, head: ["CONNECT a:1 HTTP/1.1", "Host: a:1"] },
  { name: "by HTTP/1.0", status: 401, head: [`POST ${REPARENT} HTTP/1.0`, JSON_TYPE] },
];

/** 4 MiB are over the limit of these requests, but not over that of the others. */
const LARGE: readonly Early[] = [
  { name: "JSON", status: 413, head: post(REPARENT, key, JSON_TYPE) },
  { name: "a control call", status: 413, head: post("/_control/sandboxes", JSON_TYPE) },
];

interface Refused {
  status: number;
  /** Whether the server read the whole body. */
  sent: boolean;
  error: string | undefined;
}

/** Sends head and body as simple clients do: it writes everything before it reads the answer. */
function sendAll(head: readonly string[], bytes: number): Promise<Refused> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    const refused: Refused = { status: 0, sent: false, error: undefined };
    let text = "";
    socket.pause();
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
    });
    socket.on("error", ({ message }) => {
      refused.error ??= message;
    });
    socket.on("close", () =>
      resolve({ ...refused, status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0) }),
    );
    const all = [...head, `Content-Length: ${bytes}`, "Connection: close", "", ""].join("\r\n");
    socket.write(all, "latin1");
    const piece = Buffer.alloc(MIB, "x");
    const write = (left: number) => {
      if (left > 0) return void socket.write(piece, () => write(left - MIB));
      refused.sent = true;
      socket.resume();
    };
    write(bytes);
  });
}

const OF_BOTH = { sent: true, error: undefined };

describe("a client whose request is refused early", () => {
  it.each(EARLY)("reads for $name its $status [RFC 9112 9.6]", async ({ head, status }) => {
    for (const bytes of [4 * MIB, 64 * MIB])
      expect(await sendAll(head, bytes)).toEqual({ status, ...OF_BOTH });
  });

  it.each(LARGE)("reads for $name over the limit its $status [RFC 9112 9.6]", async ({ head, status }) => {
    expect(await sendAll(head, 64 * MIB)).toEqual({ status, ...OF_BOTH });
  });

  it("reads 413 over a receiver's limit", async () => {
    expect(await sendAll(post(receiver), 64 * MIB)).toEqual({ status: 413, ...OF_BOTH });
  });

  it("reads 401 in Python's http.client, which sends the whole body first", {
    timeout: 120_000,
  }, async (test) => {
    const printed = await runPython(
      test,
      `import http.client, sys
for size in (4, 64):
    connection = http.client.HTTPConnection(sys.argv[1])
    connection.request("POST", sys.argv[2], b"x" * size * 2**20, {"Connection": "close"})
    print(connection.getresponse().status)`,
      `127.0.0.1:${port}`,
      REPARENT,
    );
    expect(printed).toBe("401\n401");
  });

  it("reads 401 in Python's requests", { timeout: 120_000 }, async (test) => {
    const program = `import json, requests, sys
send = lambda size: requests.post(sys.argv[1], data=b"x" * size * 2**20, headers={"Connection": "close"}).status_code
print(json.dumps([send(4), send(64)]))`;
    expect(await runRequests(test, program, [api.url + REPARENT])).toEqual([401, 401]);
  });

  it.each([
    ["a POST", "401", "--data-binary"],
    ["a POST in chunks", "401", "--header", "Transfer-Encoding: chunked", "--data-binary"],
    ["a POST that waits for no 100", "401", "--header", "Expect:", "--data-binary"],
    ["a PUT", "405", "--upload-file"],
    ["a POST by HTTP/1.0", "401", "--http1.0", "--data-binary"],
  ])("reads in curl for %s its %s", { timeout: 120_000 }, async (_how, status, ...sends) => {
    for (const size of [4, 64]) {
      const file = join(createTempFolder(), "body");
      writeFileSync(file, Buffer.alloc(size * MIB, "x"));
      const body = sends.at(-1) === "--upload-file" ? file : `@${file}`;
      const { stdout } = await promisify(execFile)("curl", [
        ...["--silent", "--show-error", "--output", "/dev/null", "--write-out", "%{http_code}"],
        ...["--header", "Connection: close", ...sends, body, api.url + REPARENT],
      ]);
      expect(stdout).toBe(status);
    }
  });

  it("reads 401 in Java's HttpURLConnection", { timeout: 120_000 }, async (test) => {
    const printed = await runJava(
      test,
      `for (int size : new int[] {4, 64}) {
        var connection = (HttpURLConnection) new URL(args[0]).openConnection();
        connection.setDoOutput(true);
        connection.setFixedLengthStreamingMode(size << 20);
        connection.setRequestProperty("Connection", "close");
        connection.getOutputStream().write(new byte[size << 20]);
        System.out.println(connection.getResponseCode());
      }`,
      api.url + REPARENT,
    );
    expect(printed).toBe("401\n401");
  });

  it("does not get a second request on the same connection executed", async () => {
    const second = `DELETE /v1/threads/thread_ada HTTP/1.1\r\nHost: x\r\n${key}\r\n\r\n`;
    await sendRaw(`${post(REPARENT, "Connection: close").join("\r\n")}\r\n\r\n`, second);
    await sendRaw(`${post("/_control/nowhere", "Content-Length: 5").join("\r\n")}\r\n\r\n`, `12345${second}`);
    const { body } = await api.call(undefined, "GET", "/_control/sandboxes/default/journal");
    const paths = body.entries.map(({ path }: { path: string }) => path);
    expect(paths).toContain(REPARENT);
    expect(paths).not.toContain("/v1/threads/thread_ada");
  });
});

/** Sends the second text after the answer to the first. */
function sendRaw(first: string, second: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(first));
    let answer = "";
    socket.on("data", (chunk) => {
      if (answer === "") socket.end(second);
      answer += chunk.toString("latin1");
    });
    socket.on("error", reject);
    socket.on("close", () => resolve(answer));
  });
}
