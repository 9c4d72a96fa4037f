import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { activate, arm, CONTROL } from "../support/fault-calls.ts";
import { type Api, KEYS, startReference } from "../support/harness.ts";

let api: Api;
let sockets: Socket[] = [];
beforeEach(async () => {
  api = await startReference();
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets = [];
  await api.close();
});

const REPARENT = "/v1/organizations/org_acme/departments/dept_ml/reparent";

interface RawResponse {
  /** The time at which the request was sent. */
  asked: number;
  /** The received chunks, each with the time of its arrival. */
  pieces: { at: number; bytes: Buffer }[];
  text: string;
  /** `end`: closed with FIN; `reset`: closed with RST; undefined: still open. */
  closed: "end" | "reset" | undefined;
  socket: Socket;
  ended: Promise<void>;
}

/** Sends a request byte for byte and collects all received bytes. */
async function sendRaw(method: string, path: string, body?: string): Promise<RawResponse> {
  const socket = connect(Number(new URL(api.url).port), "127.0.0.1");
  sockets.push(socket);
  const heard: RawResponse = {
    asked: performance.now(),
    pieces: [],
    text: "",
    closed: undefined,
    socket,
    ended: Promise.resolve(),
  };
  heard.ended = new Promise((resolve) => {
    socket.on("data", (bytes) => {
      heard.pieces.push({ at: performance.now(), bytes });
      heard.text = Buffer.concat(heard.pieces.map((piece) => piece.bytes)).toString("latin1");
    });
    socket.on("end", () => {
      heard.closed = "end";
    });
    socket.on("error", (error: NodeJS.ErrnoException) => {
      heard.closed = error.code === "ECONNRESET" ? "reset" : undefined;
    });
    socket.on("close", () => resolve());
  });
  await once(socket, "connect");
  const head = [`${method} ${path} HTTP/1.1`, "Host: 127.0.0.1", `api-key: ${KEYS.ada}`];
  if (body !== undefined)
    head.push("Content-Type: application/json", `Content-Length: ${Buffer.byteLength(body)}`);
  socket.write(`${head.join("\r\n")}\r\n\r\n${body ?? ""}`);
  return heard;
}

const reparent = (parent: string) => sendRaw("POST", REPARENT, JSON.stringify({ new_parent_id: parent }));

async function readParent(): Promise<string> {
  return (await api.call(undefined, "GET", `${CONTROL}/state/departments/dept_ml`)).body.parent_id;
}

function splitResponse(text: string): { head: string; body: string; length: number } {
  const at = text.indexOf("\r\n\r\n");
  const head = text.slice(0, at);
  return { head, body: text.slice(at + 4), length: Number(/content-length: (\d+)/i.exec(head)?.[1]) };
}

describe.each(["before", "after"] as const)("wire faults, phase %s", (phase) => {
  const expectChange = async () =>
    expect(await readParent()).toBe(phase === "after" ? "dept_ops" : "dept_eng");

  it("reset the connection without a byte [interfaces 6]", async () => {
    await arm(api, { phase, effect: { wire: "reset" } });
    const heard = await reparent("dept_ops");
    await heard.ended;
    expect(heard.closed).toBe("reset");
    expect(heard.pieces).toEqual([]);
    await expectChange();
  });

  it("close the connection with FIN and without a byte for empty [interfaces 6]", async () => {
    await arm(api, { phase, effect: { wire: "empty" } });
    const heard = await reparent("dept_ops");
    await heard.ended;
    expect(heard.closed).toBe("end");
    expect(heard.pieces).toEqual([]);
    await expectChange();
  });

  it("keep the connection open and silent until the client leaves for hang [interfaces 6]", async () => {
    await arm(api, { id: "h", phase, effect: { wire: "hang" } });
    const heard = await reparent("dept_ops");
    await expectHits("h", 1);
    // By the time a request on another connection is answered, this one would have been answered too.
    await arm(api, { times: 1, effect: { status: 500 } });
    expect((await api.call("dan", "DELETE", "/v1/threads/thread_none")).status).toBe(500);
    expect(heard.closed).toBeUndefined();
    expect(heard.pieces).toEqual([]);
    heard.socket.end();
    await heard.ended;
    expect(heard.pieces).toEqual([]);
    await expectChange();
  });

  it("truncate the announced body after status line, headers and a part [interfaces 6]", async () => {
    await arm(api, { phase, effect: { wire: "truncate" } });
    const heard = await reparent("dept_ops");
    await heard.ended;
    expect(heard.closed).toBe("end");
    const { head, body, length } = splitResponse(heard.text);
    expect(head).toMatch(
      phase === "after" ? /^HTTP\/1\.1 200 OK\r\n/ : /^HTTP\/1\.1 503 Service Unavailable\r\n/,
    );
    expect(head).toMatch(/x-sandbox-decision: fault:inline\//i);
    expect(body.length).toBeGreaterThan(0);
    expect(body.length).toBeLessThan(length);
    expect(body).toContain(phase === "after" ? '"dept_ml"' : '"success":false');
    await expectChange();
  });

  it("send for garbage no well-formed answer, with the body in it [interfaces 6]", async () => {
    await arm(api, { phase, effect: { wire: "garbage" } });
    const heard = await reparent("dept_ops");
    await heard.ended;
    expect(heard.closed).toBe("end");
    expect(heard.text).not.toMatch(/^HTTP/);
    expect(heard.text).toContain(phase === "after" ? '"dept_ml"' : '"HTTP_503"');
    await expect(api.call("ada", "POST", REPARENT, { new_parent_id: "dept_ops" })).rejects.toThrow();
    await expectChange();
  });

  it("drip at least three pieces over the given time, and complete the answer [interfaces 6]", async () => {
    await arm(api, { phase, effect: { wire: "drip", over: "300ms" } });
    const heard = await reparent("dept_ops");
    await heard.ended;
    expect(heard.closed).toBe("end");
    expect(heard.pieces.length).toBeGreaterThanOrEqual(3);
    // Measured from the request: a busy machine may be late to read the first piece.
    expect(heard.pieces.at(-1)!.at - heard.asked).toBeGreaterThan(200);
    const { body, length } = splitResponse(heard.text);
    expect(body.length).toBe(length);
    expect(JSON.parse(body)).toMatchObject(phase === "after" ? { id: "dept_ml" } : { success: false });
    await expectChange();
  });
});

async function expectHits(id: string, wanted: number): Promise<void> {
  await expect
    .poll(async () => (await api.call(undefined, "GET", `${CONTROL}/faults/${id}`)).body.hits)
    .toBe(wanted);
}

describe("wire faults", () => {
  it("drip for two seconds by default [interfaces 6]", async () => {
    await arm(api, { effect: { wire: "drip" } });
    const heard = await sendRaw("GET", "/v1/models");
    await heard.ended;
    expect(heard.pieces.at(-1)!.at - heard.asked).toBeGreaterThan(1900);
    expect(heard.pieces.length).toBeGreaterThanOrEqual(3);
  });

  it("can be requested by X-Sandbox-Fault [interfaces 3]", async () => {
    await expect(
      api.call("ada", "GET", "/v1/models", undefined, { "x-sandbox-fault": "reset" }),
    ).rejects.toThrow();
    expect((await api.call("ada", "GET", "/v1/models")).status).toBe(200);
  });

  it("break the answer of the `error` in the same effect [interfaces 6]", async () => {
    await arm(api, { effect: { wire: "truncate", error: "RATE_LIMIT_EXCEEDED" } });
    const heard = await sendRaw("GET", "/v1/models");
    await heard.ended;
    expect(heard.text).toMatch(/^HTTP\/1\.1 429 /);
    expect(heard.text).toMatch(/retry-after: 60/i);
  });

  it("count an answer without a body as failed [interfaces 6]", async () => {
    await arm(api, { phase: "after", match: { method: "DELETE" }, effect: { wire: "truncate" } });
    const heard = await sendRaw("DELETE", "/v1/dashboards/dsh_revenue/share-links/slink_board");
    await heard.ended;
    expect(heard.text).toMatch(/^HTTP\/1\.1 503 /);
    const gone = await api.call(undefined, "GET", "/v1/dashboards/shared/revenue-board");
    expect(gone.status).toBe(404);
  });

  it.each([
    ["GET", 204, ""],
    ["GET", 304, ""],
    ["GET", 205, "Content-Length: 0"],
    ["HEAD", 200, "Content-Length: 9"],
    ["GET", 200, "Content-Length: 9"],
  ])(
    "send the length of %s %i as HTTP allows, and a body only where there is one [interfaces 6]",
    async (method, status, length) => {
      const body = status === 200 ? { body: { a: 1.5 } } : {};
      await arm(api, { match: { path: "/v1/own" }, effect: { status, ...body, wire: "drip", over: "10ms" } });
      const heard = await sendRaw(method, "/v1/own");
      await heard.ended;
      const { head, body: sent } = splitResponse(heard.text);
      expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
      expect(head.match(/content-length: \d+/i)?.[0] ?? "").toBe(length);
      expect(sent).toBe(method === "GET" && status === 200 ? '{"a":1.5}' : "");
    },
  );

  it("cut a streamed answer in the middle [interfaces 6]", async () => {
    await arm(api, { phase: "after", effect: { wire: "truncate" } });
    const heard = await sendRaw("GET", "/v1/organizations/org_acme/audit-log/export");
    await heard.ended;
    const { body, length } = splitResponse(heard.text);
    expect(body).toMatch(/^Timestamp,Entity Type,/);
    expect(body.length).toBe(Math.floor(length / 2));
  });

  it("are named in the journal, with status 0 if there was no answer [interfaces 3]", async () => {
    await activate(api, "broken-wire");
    for (let i = 0; i < 4; i++) {
      const heard = await sendRaw("GET", "/v1/models");
      await heard.ended;
    }
    const { body } = await api.call(undefined, "GET", `${CONTROL}/journal`);
    expect(
      body.entries.map((entry: { status: number; decision: string }) => [entry.status, entry.decision]),
    ).toEqual([
      [0, "fault:broken-wire/garbage"],
      [503, "fault:broken-wire/truncate"],
      [0, "fault:broken-wire/empty"],
      [0, "fault:broken-wire/reset"],
    ]);
    expect(body.entries[3].reasons).toContain("wire fault reset");
  });

  it("do not affect others if a client leaves during a drip or a delay [interfaces 6]", async () => {
    await arm(api, { id: "d", effect: { wire: "drip", over: "10s" } });
    const dripping = await sendRaw("GET", "/v1/models");
    await once(dripping.socket, "data");
    dripping.socket.destroy();
    await api.call(undefined, "DELETE", `${CONTROL}/faults`);
    await arm(api, { id: "slow", effect: { delay: "10s" } });
    const waiting = await sendRaw("GET", "/v1/models");
    await expectHits("slow", 1);
    waiting.socket.destroy();
    await api.call(undefined, "DELETE", `${CONTROL}/faults`);
    expect((await api.call("ada", "GET", "/v1/models")).status).toBe(200);
  });

  it("do not delay the end of the server although connections hang [interfaces 6]", async () => {
    await arm(api, { id: "h", effect: { wire: "hang" } });
    const heard = await sendRaw("GET", "/v1/models");
    await expectHits("h", 1);
    await api.close();
    await heard.ended;
    api = await startReference();
  });
});
