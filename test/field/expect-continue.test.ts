import { execFile } from "node:child_process";
import { connect } from "node:net";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Api, KEYS, startReference } from "../support/harness.ts";
import { sendRawRequest } from "../support/raw-request.ts";
import { runJava } from "../support/real-clients.ts";

const REPARENT = "/v1/organizations/org_acme/departments/dept_ml/reparent";
const TO_TOP = '{"new_parent_id":null}';
const JSON_TYPE = "Content-Type: application/json";
const key = `api-key: ${KEYS.ada}`;

let api: Api;
let receiver: string;
let upload: string;
beforeAll(async () => {
  api = await startReference();
  const { body } = await api.call("ada", "POST", "/_control/sandboxes/default/receivers", {});
  receiver = new URL(body.url).pathname;
  const file = { filename: "a.txt", file_size: 22, mime_type: "text/plain" };
  const issued = await api.call("ada", "POST", "/v1/organizations/org_acme/files/upload-url", file);
  const { pathname, search } = new URL(issued.body.upload_url);
  upload = pathname + search;
});
afterAll(() => api.close());

/** Sends the head, and the body only after a 100. Returns all statuses. */
function ask(request: string, headers: readonly string[], body = TO_TOP): Promise<number[]> {
  return new Promise((resolve, reject) => {
    const lines = [`${request} HTTP/1.1`, "Host: localhost", ...headers, "Expect: 100-continue"];
    if (!headers.some((line) => line.startsWith("Content-Length")))
      lines.push(`Content-Length: ${body.length}`);
    const socket = connect(Number(new URL(api.url).port), "127.0.0.1", () =>
      socket.write(`${lines.join("\r\n")}\r\n\r\n`),
    );
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
      if (text === "HTTP/1.1 100 Continue\r\n\r\n") socket.write(body);
      else if (!text.startsWith("HTTP/1.1 100")) return;
      else if (/\r\n\r\n.*\r\n\r\n/s.test(text)) socket.end();
    });
    socket.on("error", reject);
    socket.on("close", () =>
      resolve([...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status))),
    );
  });
}

describe("a client that sends Expect: 100-continue", () => {
  it.each([
    ["without credentials", "POST", REPARENT, [JSON_TYPE], 401],
    ["for an unknown path", "POST", "/v1/nowhere", [key], 404],
    ["for a path of another method", "POST", "/v1/models", [key], 405],
    ["for an unknown sandbox", "POST", "/_s/nobody/v1/models", [key], 404],
    ["with a body over the limit", "POST", REPARENT, [key, JSON_TYPE, "Content-Length: 99000000"], 413],
    ["with a body that is not JSON", "POST", REPARENT, [key, "Content-Type: text/plain"], 415],
    ["with a form that is none", "POST", "/v1/images/uncrop", [key, JSON_TYPE], 415],
    ["for a fault", "POST", REPARENT, [key, "X-Sandbox-Fault: INSUFFICIENT_PERMISSIONS"], 403],
    ["for an unknown call of the control API", "POST", "/_control/nowhere", [], 404],
    ["as a foreign page", "POST", "/_control/sandboxes", ["Origin: http://a.test"], 403],
    [
      "for a control call that takes JSON, with text",
      "POST",
      "/_control/sandboxes",
      ["Content-Type: text/plain"],
      415,
    ],
    ["for an unknown receiver", "POST", "/_receivers/default/rcv_none", [], 404],
    ["for the console", "POST", "/_console/", [], 405],
    ["for an unknown upload", "PUT", "/v1/uploads/none", [], 404],
  ] as const)(
    "reads only the final status %s [RFC 9110 10.1.1]",
    async (_name, method, path, headers, status) => {
      expect(await ask(`${method} ${path}`, headers)).toEqual([status]);
    },
  );

  it("reads 100 and then the answer if the body decides [RFC 9110 10.1.1]", async () => {
    expect(await ask(`POST ${REPARENT}`, [key, JSON_TYPE])).toEqual([100, 200]);
    expect(await ask(`POST ${REPARENT}`, [key, JSON_TYPE], "{")).toEqual([100, 400]);
    expect(await ask("POST /_control/sandboxes", [JSON_TYPE], '{"name":"asked"}')).toEqual([100, 201]);
    expect(await ask(`POST ${receiver}`, [JSON_TYPE])).toEqual([100, 200]);
    expect(await ask(`PUT ${upload}`, ["Content-Type: text/plain"])).toEqual([100, 200]);
  });

  it.each(["/_receivers/default/rcv_none", "/_receivers/nobody/rcv_none", REPARENT, "/_control/nowhere"])(
    "reads that its connection closes, since the body will not follow: %s [RFC 9110 10.1.1]",
    async (path) => {
      const lines = [`POST ${path} HTTP/1.1`, "Host: localhost", "Expect: 100-continue", "Content-Length: 2"];
      const { headers } = await sendRawRequest(Number(new URL(api.url).port), lines);
      expect(headers["connection"]).toBe("close");
    },
  );

  it("can use its connection again after its body was read", async () => {
    const { stdout } = await promisify(execFile)("curl", [
      ...["-sS", "--expect100-timeout", "60", "-H", "Expect: 100-continue", "-H", JSON_TYPE, "-H", key],
      ...["-o", "/dev/null", "-o", "/dev/null", "-w", "%{http_code} %{num_connects}\n", "-d", TO_TOP],
      ...[api.url + REPARENT, api.url + REPARENT],
    ]);
    expect(stdout).toBe("200 1\n200 0\n");
  });

  it("reads its 401 and its 200 in Java's HttpURLConnection", { timeout: 120_000 }, async (test) => {
    const printed = await runJava(
      test,
      `for (String key : new String[] {"none", args[1]}) {
        var connection = (HttpURLConnection) new URL(args[0]).openConnection();
        connection.setRequestMethod("POST");
        connection.setDoOutput(true);
        connection.setFixedLengthStreamingMode(args[2].length());
        connection.setRequestProperty("Expect", "100-continue");
        connection.setRequestProperty("Content-Type", "application/json");
        connection.setRequestProperty("api-key", key);
        try { connection.getOutputStream().write(args[2].getBytes()); } catch (ProtocolException refused) { }
        System.out.println(connection.getResponseCode());
      }`,
      api.url + REPARENT,
      KEYS.ada,
      TO_TOP,
    );
    expect(printed).toBe("401\n200");
  });
});
