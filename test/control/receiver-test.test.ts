import { createServer, type Server } from "node:http";
import { type AddressInfo, createServer as createTcp } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readEvents } from "../../src/client/http.ts";
import { ReceiverTestEvent } from "../../src/control/operations/receiver-test.ts";
import { toValidator } from "../../src/engine/contract/validator.ts";
import { type Api, startReference } from "../support/harness.ts";

const TOKEN = "a-token-of-tests";
const PATH = "/_control/sandboxes/default/receiver-test";
const SECRET = "whsec_graded";
/** Options without waits. */
const QUICK = { secret: SECRET, patience_seconds: 0, memory_seconds: 0 };

let api: Api;
let shared: Api;
const servers: { close(): unknown }[] = [];
beforeAll(async () => {
  api = await startReference();
  shared = await startReference({ shared: { token: TOKEN } });
});
afterAll(async () => {
  for (const server of servers) server.close();
  await Promise.all([api.close(), shared.close()]);
});

const validate = toValidator(ReceiverTestEvent);

function grade(body: object, on: Api = api) {
  const headers: Record<string, string> = on === shared ? { authorization: `Bearer ${TOKEN}` } : {};
  return on.call(undefined, "POST", PATH, body, headers);
}

/** Parses the events of a response and checks them against their schema. */
function parseEvents(text: string) {
  const events = [...text.matchAll(/^data: ([^\n]*)/gm)].map(([, data]) => JSON.parse(data!));
  for (const event of events) expect(validate(event), JSON.stringify(validate.errors)).toBe(true);
  return events;
}

async function listen(server: Server): Promise<string> {
  servers.push(server);
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
}

describe("the receiver test of the control API", () => {
  it("reports each check as it begins, then the report [interfaces 14]", async () => {
    // This receiver responds with 200 to any delivery, also forged ones.
    const { url } = (await api.call(undefined, "POST", "/_control/sandboxes/default/receivers")).body;
    const answer = await grade({ ...QUICK, url, only: ["signature-missing"], fail_on: "critical" });
    expect([answer.status, answer.headers.get("content-type")]).toEqual([
      200,
      "text/event-stream; charset=utf-8",
    ]);
    const events = parseEvents(answer.text);
    const { report } = events.pop();
    expect(events.map(({ progress }) => [progress.index, progress.total])).toEqual([
      [1, 2],
      [2, 2],
    ]);
    expect(report).toMatchObject({ url, verdict: "fail", fail_on: "critical", probe: null });
    expect(report.checks.map(({ id, outcome }: Record<string, string>) => [id, outcome])).toEqual([
      ["valid-accepted", "passed"],
      ["signature-missing", "failed"],
    ]);
    expect(answer.text).not.toContain(SECRET);
    // The test adds no delivery to the sandbox and changes nothing.
    const { body } = await api.call(undefined, "GET", "/_control/sandboxes/default/state/deliveries");
    expect(body.items.map(({ delivery_id }: Record<string, string>) => delivery_id).sort()).toEqual([
      "del_failed",
      "del_ok",
    ]);
  });

  it.each([
    [{ url: "127.0.0.1:3000/hook" }, "url", /absolute http or https URL/],
    [{ probe: "ftp://127.0.0.1/" }, "probe", /The probe URL must be an absolute http or https URL/],
    [{ data: { user_idd: "usr_1" } }, "data", /did you mean "user_id"/],
    [{ event: "user.creatd" }, "event", /did you mean "user\.created"/],
    [{ only: ["signature-mising"] }, "only", /did you mean "signature-missing"/],
    [{ skip: ["valid-accepted"] }, "skip", /can't be left out/],
    [{ timeout_seconds: 0 }, undefined, /more than 0 seconds/],
    [{ patience_seconds: 601 }, "patience_seconds", /600/],
  ])("refuses %j before it sends anything [interfaces 14]", async (wrong, field, detail) => {
    let asked = 0;
    const url = await listen(
      createServer((_request, response) => {
        asked += 1;
        response.end();
      }),
    );
    const { status, body } = await grade({ ...QUICK, url, ...wrong });
    expect([status, body.field]).toEqual([422, field]);
    expect(body.detail).toMatch(detail);
    expect(asked).toBe(0);
  });

  it("connects to no forbidden address from a shared server, not even to see if it answers [interfaces 7]", async () => {
    let connections = 0;
    const canary = createTcp(() => (connections += 1));
    servers.push(canary);
    await new Promise<void>((ready) => canary.listen(0, "127.0.0.1", ready));
    const { port } = canary.address() as AddressInfo;
    for (const host of ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]"]) {
      const { text } = await grade({ ...QUICK, url: `http://${host}:${port}/hook` }, shared);
      const { report } = parseEvents(text).at(-1);
      expect(report).toMatchObject({ verdict: "fail", stopped: expect.stringContaining("not called:") });
    }
    expect(connections).toBe(0);
    // It may connect to its own receivers.
    const headers = { authorization: `Bearer ${TOKEN}` };
    const path = "/_control/sandboxes/default/receivers";
    const { url } = (await shared.call(undefined, "POST", path, undefined, headers)).body;
    const { text } = await grade({ ...QUICK, url, only: ["valid-accepted"] }, shared);
    expect(parseEvents(text).at(-1).report.verdict).toBe("pass");
  });

  it("ends when its client disconnects [interfaces 14]", async () => {
    let resolveGone = () => {};
    const gone = new Promise<void>((resolve) => {
      resolveGone = resolve;
    });
    let resolveDelivered = () => {};
    const delivered = new Promise<void>((resolve) => {
      resolveDelivered = resolve;
    });
    const url = await listen(
      createServer((request) => {
        request.socket.once("close", resolveGone);
        resolveDelivered();
      }),
    );
    const leaving = new AbortController();
    const asked = fetch(api.url + PATH, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ...QUICK, url }),
      signal: leaving.signal,
    }).then((response) => response.text());
    await delivered;
    leaving.abort();
    await expect(asked).rejects.toThrow();
    await gone;
  });
});

it("the library reads streamed events with Unicode line separators whole [interfaces 8]", async () => {
  const event = { body: "one\u2028two\u2029three" };
  async function* yieldChunks() {
    yield `id: 1\ndata: ${JSON.stringify(event)}\n\n`;
  }
  for await (const read of readEvents(yieldChunks())) expect(read).toEqual(event);
  expect.assertions(1);
});
