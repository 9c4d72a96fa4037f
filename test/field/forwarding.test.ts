import { once } from "node:events";
import http from "node:http";
import https from "node:https";
import net, { type AddressInfo, type Server } from "node:net";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type ForwardOptions, forwardDeliveries } from "../../src/cli/forward-deliveries.ts";
import { connect } from "../../src/client/connect.ts";
import type { ReceivedDelivery } from "../../src/tools/receivers/listen.ts";
import { waitUntil } from "../support/eventually.ts";
import { TEST_CERTIFICATE, TEST_KEY } from "../support/receivers/test-certificate.ts";
import { removeTempFolders, startCommand } from "../support/run-understudy.ts";
import { startWebhooks, type WebhookApi } from "../support/webhook-setup.ts";

vi.setConfig({ testTimeout: 60_000 });

let api: WebhookApi;
let undo: (() => unknown)[] = [];
beforeEach(async () => {
  api = await startWebhooks();
});
afterEach(async () => {
  for (const one of undo.reverse()) await one();
  undo = [];
  await api.close();
});
afterAll(removeTempFolders);

async function listen(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  undo.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

/** Forwards deliveries until the test ends or calls `end`. */
async function forward(to: string, options: Partial<ForwardOptions> = {}) {
  const sandbox = await connect(api.url).open("default");
  const ending = new AbortController();
  const heard: ReceivedDelivery[] = [];
  let ended: Promise<void> | undefined;
  const webhook = await new Promise<{ webhook_id: string; url: string }>((resolve, reject) => {
    ended = forwardDeliveries({
      ...{ sandbox, to, events: ["user.created"] },
      onDelivery: (delivery) => void heard.push(delivery),
      onProblem: () => {},
      signal: ending.signal,
      ...options,
      onReady(one) {
        options.onReady?.(one);
        resolve(one);
      },
    });
    ended.catch(reject);
  });
  const end = async () => {
    ending.abort();
    await ended;
  };
  undo.push(end);
  return { webhook, heard, end };
}

const findClosedPort = async () => {
  const server = net.createServer();
  const free = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return free;
};
const listenRaw = (answer: (socket: net.Socket) => void) =>
  listen(net.createServer((socket) => socket.on("error", () => {}).once("data", () => answer(socket))));
const secure = () =>
  listen(https.createServer({ cert: TEST_CERTIFICATE, key: TEST_KEY }, (_, response) => response.end()));
const listenOk = () => listen(http.createServer((_, response) => response.end()));

const FAILURES: [title: string, to: () => Promise<string>, says: RegExp][] = [
  ["nothing listens", async () => `http://127.0.0.1:${await findClosedPort()}`, /ECONNREFUSED/],
  [
    "there is no such name",
    async () => "http://no-such-host.invalid/hook",
    /no-such-host\.invalid cannot be resolved \((ENOTFOUND|EAI_AGAIN)\)/,
  ],
  [
    "https at a plain port",
    async () => `https://127.0.0.1:${await listenOk()}`,
    /speaks plain HTTP.*http:\/\//,
  ],
  ["http at a TLS port", async () => `http://127.0.0.1:${await secure()}`, /speaks TLS.*https:\/\//],
  ["an own certificate", async () => `https://127.0.0.1:${await secure()}`, /self-signed certificate/],
  [
    "it hangs up",
    async () => `http://127.0.0.1:${await listenRaw((socket) => socket.end())}`,
    /the connection was closed without an answer/,
  ],
  [
    "it is not HTTP",
    async () => `http://127.0.0.1:${await listenRaw((s) => s.end("220 smtp\r\n"))}`,
    /the answer does not begin with a status line/,
  ],
  ["it is silent", async () => `http://127.0.0.1:${await listenRaw(() => {})}`, /timed out after 1.5 s/],
];

describe("a delivery that the listener could not make has the reason at the server", () => {
  it.each(FAILURES)("%s [G24]", async (title, to, says) => {
    if (title === "it is silent")
      await api.control("PATCH", "", { settings: { webhook_timeout_seconds: 2 } });
    const { webhook, heard } = await forward(await to());
    const [{ delivery_id, response_code } = { delivery_id: "" }] = await api.trigger();
    expect(response_code).toBe(0);
    expect(heard[0]!.answer).toMatch(says);
    const { body: record } = await api.control("GET", `/state/deliveries/${delivery_id}`);
    expect(record.attempt_log[0].error).toMatch(says);
    expect(record.attempt_log[0].error).toMatch(/\(as the listener saw it\)$/);
    const { body: entry } = await api.control("GET", `/journal/${delivery_id}.1`);
    expect(entry.reasons[0]).toMatch(says);
    const { body: history } = await api.control("GET", "/history");
    expect(JSON.stringify(history)).toMatch(
      new RegExp(`${webhook.webhook_id} got no answer: .*${says.source}`),
    );
  });
});

it("a listener that reconnects has its own webhook, also if others have its URL [interfaces 11]", async () => {
  const sandbox = await connect(api.url).open("default");
  const { follow } = sandbox.receivers;
  const registered: { webhook_id: string; url: string }[] = [];
  sandbox.receivers.follow = async function* (id, signal) {
    for await (const event of follow(id, signal)) {
      yield event;
      if (registered.length > 1) continue;
      for (let count = 0; count < 5; count++) await api.webhook(registered[0]!.url);
      return;
    }
  };
  await forward(`http://127.0.0.1:${await listenOk()}`, {
    sandbox,
    onReady: (webhook) => void registered.push(webhook),
  });
  await waitUntil(() => registered.length === 2);
  expect(registered[1]).toEqual(registered[0]);
});

describe("a webhook of a listener is removed", () => {
  const listWebhooks = async () => (await api.control("GET", "/state/webhooks")).body.items;
  const isThere = async (id: string) =>
    (await listWebhooks()).some(({ webhook_id }: { webhook_id: string }) => webhook_id === id);

  it("when its process is killed, with the receiver, and webhooks of others remain [interfaces 11]", async () => {
    const before = (await listWebhooks()).length;
    const { child, output } = startCommand(
      ["listen", "--forward-to", `127.0.0.1:${await listenOk()}/hook`, "--url", api.url, "--json"],
      {},
    );
    undo.push(() => child.kill("SIGKILL"));
    await waitUntil(() => output().stdout.includes("webhook_id"));
    const { webhook_id, url } = JSON.parse(output().stdout.split("\n")[0]!);
    expect(await isThere(webhook_id)).toBe(true);
    const other = await api.webhook(url);
    child.kill("SIGKILL");
    await waitUntil(async () => !(await isThere(webhook_id)));
    expect(await isThere(other.webhook_id)).toBe(true);
    expect(await listWebhooks()).toHaveLength(before + 1);
    expect((await api.control("GET", "/receivers")).body.items).toEqual([]);
    const { body } = await api.control("GET", "/history");
    expect(JSON.stringify(body)).toContain("was closed, because its listener is gone");
  });

  it("with a leased receiver that no client has followed yet, after a delivery that no client took [interfaces 11]", async () => {
    const { body: receiver } = await api.control("POST", "/receivers", {
      answers: ["forward"],
      leased: true,
    });
    expect(receiver.leased).toBe(true);
    const { id, url } = receiver;
    const fields = { url, receiver_id: id, events: ["user.created"] };
    const { body: webhook } = await api.control("POST", "/state/webhooks", fields);
    expect(await api.trigger()).toMatchObject([{ response_code: 503 }]);
    await waitUntil(async () => !(await isThere(webhook.webhook_id)));
  });
});
