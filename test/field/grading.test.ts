import { type ChildProcess, spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { buffer } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, describe, expect, it, vi } from "vitest";
import { gradeReceiver } from "../../src/tools/grader/grade-receiver.ts";
import { CORRECT_STEPS, startReceiver } from "../support/receivers/flawed/flawed-receiver.ts";
import { FLAWS } from "../support/receivers/flawed/flaws.ts";
import { grade, SECRET } from "../support/receivers/grade-setup.ts";
import { runCommand } from "../support/run-understudy.ts";

vi.setConfig({ testTimeout: 120_000 });

const ends: (() => unknown)[] = [];
afterAll(async () => {
  for (const end of ends) await end();
});

const sign = (body: Buffer) => `sha256=${createHmac("sha256", SECRET).update(body).digest("hex")}`;

/** A sound receiver, except for the given options. Counts its deliveries. */
async function startSoundReceiver({
  isSigned = (header: string, body: Buffer) => header === sign(body),
  workMs = 0,
  lateMs = 0,
  isSerial = false,
} = {}) {
  const processed: string[] = [];
  const seen = new Set<string>();
  const counts = { deliveries: 0 };
  let turn: Promise<unknown> = Promise.resolve();
  const server = http.createServer(async (request, response) => {
    const body = await buffer(request).catch(() => undefined);
    const answer = (status: number, text = "") =>
      response.writeHead(status, { Connection: "close" }).end(text);
    if (body === undefined) return;
    if (request.url === "/processed") return answer(200, JSON.stringify(processed));
    counts.deliveries += 1;
    turn = isSerial ? turn.then(() => wait(workMs)) : wait(workMs);
    await turn;
    if (request.method !== "POST") return answer(405);
    if (!isSigned(String(request.headers["x-service-signature"] ?? ""), body)) return answer(401);
    let id: string;
    try {
      id = JSON.parse(body.toString()).delivery_id;
    } catch {
      return answer(400);
    }
    if (!seen.has(id)) setTimeout(() => processed.push(id), seen.add(id) && lateMs);
    await wait(lateMs === 0 ? 2 : 0);
    answer(204);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  ends.push(
    () => server.closeAllConnections(),
    () => server.close(),
  );
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url: `${base}/hook`, probe: `${base}/processed`, counts };
}

const THREADS = `
import hashlib, hmac, json, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
processed, lock = [], threading.Lock()
class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.answer(200, json.dumps(processed)) if self.path == "/processed" else self.answer(405, "")
    def do_PUT(self):
        self.answer(405, "POST only")
    do_PATCH = do_DELETE = do_PUT
    def body(self):
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        pieces = []
        while size := int(self.rfile.readline(), 16):
            pieces.append(self.rfile.read(size)); self.rfile.readline()
        self.rfile.readline()
        return b"".join(pieces)
    def do_POST(self):
        body = self.body()
        right = "sha256=" + hmac.new(b"${SECRET}", body, hashlib.sha256).hexdigest()
        if not hmac.compare_digest(right.encode(), self.headers.get("X-Service-Signature", "").encode()):
            return self.answer(401, "no")
        try:
            id = json.loads(body)["delivery_id"]
        except ValueError:
            return self.answer(400, "no JSON")
        with lock:
            if id not in processed: processed.append(id)
        self.answer(204, "ok")
    def answer(self, status, text):
        self.wfile.write(b"HTTP/1.1 %d Answer\\r\\n\\r\\n%s" % (status, text.encode()) if status == 204 else
            b"HTTP/1.0 %d Answer\\r\\nContent-Length: %d\\r\\n\\r\\n%s" % (status, len(text), text.encode()))
    def log_message(self, *_):
        pass
server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
`;

async function startPython(program: string): Promise<string> {
  const child: ChildProcess = spawn("python3", ["-c", program], { stdio: ["ignore", "pipe", "ignore"] });
  ends.push(() => child.kill("SIGKILL"));
  const [port] = (await once(createInterface({ input: child.stdout! }), "line")) as [string];
  return `http://127.0.0.1:${port}`;
}

describe("a comparison that is too weak", () => {
  const verifyLeniently = (header: string, body: Buffer) =>
    Buffer.from(header.slice(7), "hex").equals(Buffer.from(sign(body).slice(7), "hex"));
  it.each<[string, (header: string, body: Buffer) => boolean, string[]]>([
    ["Node's hex decoder, which stops at other text", verifyLeniently, ["signature-trailing-text"]],
    [
      "the first word of the header",
      (header, body) => header.split(" ")[0] === sign(body),
      ["signature-trailing-text"],
    ],
    [
      "startsWith",
      (header, body) => header.startsWith(sign(body)),
      ["signature-surrounded", "signature-trailing-text"],
    ],
    ["8 digits", (header, body) => header.slice(0, 15) === sign(body).slice(0, 15), ["signature-prefix"]],
    [
      "48 digits",
      (header, body) => header.length === 71 && header.slice(0, 55) === sign(body).slice(0, 55),
      ["signature-prefix"],
    ],
    [
      "as many as were sent",
      (header, body) => header.length > 9 && sign(body).startsWith(header),
      ["signature-truncated"],
    ],
  ])("is found by the receiver test: %s", async (_title, isSigned, finds) => {
    const { url } = await startSoundReceiver({ isSigned });
    const only = [
      "signature-truncated",
      "signature-prefix",
      "signature-surrounded",
      "signature-trailing-text",
    ];
    const report = await grade(url, { only });
    const failed = report.checks.filter(({ outcome }) => outcome === "failed").map(({ id }) => id);
    expect(failed).toEqual(expect.arrayContaining(finds));
    expect(report.verdict).toBe("fail");
  });
});

// The tests run concurrently, since a run mostly waits.
describe.concurrent("a sound receiver passes the receiver test", () => {
  it("on Python's threading server with a body after its 204", async () => {
    const base = await startPython(THREADS);
    const report = await grade(`${base}/hook`, { probe: `${base}/processed`, patienceMs: 3000 });
    expect(report.checks.filter(({ outcome }) => outcome !== "passed")).toEqual([]);
  });

  it("with a minute's deliveries at most if it handles one request at a time, in 400 ms each", async () => {
    const { url, probe, counts } = await startSoundReceiver({ workMs: 400, isSerial: true });
    const report = await gradeReceiver(url, { secret: SECRET, probe });
    expect(report.checks.filter(({ outcome }) => outcome !== "passed")).toEqual([]);
    expect(counts.deliveries).toBeLessThan(125);
  });
});

describe.concurrent("a slow receiver, which gets fewer deliveries, still fails the check for its flaw:", () => {
  const names = [
    "compares the first sixteen digits",
    "decodes hex up to the first other character",
    "checks whether the correct signature ends with the sent one",
    "has a fallback secret",
    "verifies nothing with X-Forwarded-For: 10.0.0.1",
    "verifies nothing with X-Debug",
    "needs no signature on a test",
    "verifies only events of users and messages",
    "trusts a connection that carried a genuine delivery",
    "does not verify chunked bodies",
    "also accepts the signature of reordered JSON",
    "sorts the keys before it verifies",
    "verifies the body in NFC",
    "stops at 300 KB",
    "insists on a Content-Length",
    "knows only one spelling of header names",
    "compares the whole content type",
    "no longer answers on kept connections",
    "checks the delivery id first and records it later",
    "answers 2xx to more deliveries than its queue can store",
    "identifies deliveries by event, object and time",
    "remembers only the last delivery",
  ];
  it.each(names)("%s", async (name) => {
    const { steps, fails } = FLAWS.find((flaw) => flaw.name === name)!;
    const { url, probe, close } = await startReceiver(SECRET, {
      ...steps,
      async readBody(context) {
        await wait(300);
        return (steps.readBody ?? CORRECT_STEPS.readBody)(context);
      },
    });
    const report = await grade(url, { probe, timeoutMs: 6000, patienceMs: 600, only: fails });
    await close();
    const found = report.checks.filter(({ outcome }) => outcome === "failed").map(({ id }) => id);
    expect(found.sort()).toEqual(fails.toSorted());
  });
});

it.concurrent("the longer duration because of late side effects is printed at once, on stderr", async () => {
  const { url, probe } = await startSoundReceiver({ lateMs: 700 });
  const said: (string | number)[] = [];
  await grade(url, {
    ...{ probe, patienceMs: 300, only: ["valid-processed", "duplicate"] },
    onNotice: (notice) => said.push(notice),
    onProgress: ({ index }) => said.push(index),
  });
  expect(said).toEqual([
    1,
    2,
    expect.stringMatching(/happened \d+(\.\d)? s after.*waits.*patienceMs to \d/),
    3,
  ]);
  const options = ["--secret", SECRET, "--probe", probe, "--patience", "0.3", "--only", "valid-processed"];
  const { stderr } = await runCommand(["receiver-test", url, ...options]);
  expect(stderr).toMatch(/happened \d+(\.\d)? s after.*waits.*--patience to \d/);
});

it.concurrent("a receiver that needs more patience gets that advice within a minute", async () => {
  const { url, probe } = await startSoundReceiver({ lateMs: 60_000 });
  const began = performance.now();
  let toldAfterMs: number | undefined;
  const report = await gradeReceiver(url, {
    secret: SECRET,
    probe,
    patienceMs: 1000,
    memoryMs: 0,
    memoryDeliveries: 10,
    onNotice: () => {
      toldAfterMs ??= performance.now() - began;
    },
  });
  expect(toldAfterMs).toBeLessThan(60_000);
  const first = report.checks.find(({ id }) => id === "valid-processed")!;
  // The first side effect is awaited four times as long as the others. A busy machine may wait longer.
  const [, awaitedSeconds] = /later than ([\d.]+) s after the answer, raise patienceMs/.exec(first.advice!)!;
  expect(Number(awaitedSeconds)).toBeGreaterThanOrEqual(4);
  expect(report.duration_ms).toBeLessThan(60_000);
});
