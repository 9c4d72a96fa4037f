import { createHmac } from "node:crypto";
import { request as httpRequest } from "node:http";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ReceivedRequest, SimulatedReceivers } from "../../src/engine/receivers/simulated-receivers.ts";
import { sendEmail } from "../../src/engine/webhooks/outbox.ts";
import { waitUntil } from "../support/eventually.ts";
import { sendRawRequest } from "../support/raw-request.ts";
import { startWebhooks, type WebhookApi } from "../support/webhook-setup.ts";

let api: WebhookApi;
beforeEach(async () => {
  api = await startWebhooks();
});
afterEach(() => api.close());

const post = (url: string, body: string, headers: Record<string, string> = {}) =>
  fetch(url, { method: "POST", body, headers: { "content-type": "application/json", ...headers } });

const computeSignature = (secret: string, body: string) =>
  `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;

describe("receivers inside the server [interfaces 4]", () => {
  it("a receiver answers 200 on any path below its URL, with any method [interfaces 4]", async () => {
    const answer = await api.control("POST", "/receivers");
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({ id: expect.stringMatching(/^rcv_/), url: expect.any(String) });
    const { id, url } = answer.body;
    expect(url).toBe(`${api.url}/_receivers/default/${id}`);
    expect((await post(`${url}/deep/er?x=1`, "{}")).status).toBe(200);
    expect((await fetch(url)).status).toBe(200);
    const { items, total } = (await api.control("GET", `/receivers/${id}/requests`)).body;
    expect(total).toBe(2);
    expect(items.map(({ method, path, at }: Record<string, string>) => [method, path, at])).toEqual([
      ["POST", "deep/er", "2026-03-15T12:00:00.000Z"],
      ["GET", "", "2026-03-15T12:00:00.000Z"],
    ]);
  });

  it("a receiver closes the connection if the client asks, or speaks HTTP/1.0 [interfaces 4]", async () => {
    const { url } = await api.receiver([200]);
    const { pathname, port } = new URL(url);
    const ask = (head: string[]) => sendRawRequest(Number(port), head);
    const { headers } = await ask([`GET ${pathname} HTTP/1.1`, "Host: localhost", "Connection: close"]);
    expect(headers["connection"]).toBe("close");
    const keepAlive = ["Host: localhost", "Connection: keep-alive, close"];
    for (const head of [
      ["GET /_receivers/default/rcv_nope HTTP/1.0"],
      [`GET ${pathname} HTTP/1.1`, ...keepAlive],
    ])
      expect((await ask(head)).headers["connection"]).toBe("close");
    expect((await post(url, "{}")).headers.get("connection")).toBe("keep-alive");
  });

  it("answers are given in order and the last one repeats, and PATCH starts again [interfaces 4]", async () => {
    const { id, url } = await api.receiver([500, { status: 202, delay: "1ms" }, 204]);
    const listStatuses = async (n: number) => {
      const found: number[] = [];
      for (let i = 0; i < n; i++) found.push((await post(url, "{}")).status);
      return found;
    };
    expect(await listStatuses(4)).toEqual([500, 202, 204, 204]);
    const patched = await api.control("PATCH", `/receivers/${id}`, { answers: [409, 200] });
    expect(patched.status).toBe(200);
    expect(patched.body).toMatchObject({ id, url, answers: [409, 200], served: 0 });
    expect(await listStatuses(3)).toEqual([409, 200, 200]);
  });

  it("reset breaks the connection, and hang keeps it open and silent [interfaces 4]", async () => {
    const reset = await api.receiver(["reset"]);
    await expect(post(reset.url, "{}")).rejects.toThrow();
    const hang = await api.receiver(["hang"]);
    const outcome = await new Promise((resolve) => {
      const request = httpRequest(hang.url, { method: "POST" }, () => resolve("answered"));
      request.on("error", () => {});
      request.end("{}");
      void (async () => {
        await waitUntil(async () => (await hang.requests()).length > 0);
        request.destroy();
        resolve("silent");
      })();
    });
    expect(outcome).toBe("silent");
  });

  it("each request is checked by the webhook's secret, or by the receiver's own [interfaces 4]", async () => {
    const receiver = await api.receiver();
    const { webhook_id, secret } = await api.webhook(receiver.url);
    const other = await api.webhook(receiver.url);
    const body = JSON.stringify({ event: "user.created", webhook_id });
    await post(receiver.url, body, { "X-Service-Signature": computeSignature(secret, body) });
    await post(receiver.url, body);
    await post(receiver.url, body, { "X-Service-Signature": computeSignature(other.secret, body) });
    await post(receiver.url, `${body} `, { "X-Service-Signature": computeSignature(secret, body) });
    await post(receiver.url, "not json", { "X-Service-Signature": computeSignature(secret, "not json") });
    const checked = (await receiver.requests()).map(({ verdict, reason }) => [verdict, reason]);
    expect(checked.map(([verdict]) => verdict)).toEqual([
      "valid",
      "missing",
      "invalid",
      "invalid",
      "invalid",
    ]);
    expect(checked[2]![1]).toContain(other.webhook_id);
    expect(checked[3]![1]).toContain("body changed");
    expect(checked[4]![1]).toContain("no secret is known");
    expect(JSON.stringify(checked)).not.toContain(secret);

    const { body: own } = await api.control("POST", "/receivers", { secret: "my own" });
    await post(own.url, "x", { "X-Service-Signature": computeSignature("my own", "x") });
    const { items } = (await api.control("GET", `/receivers/${own.id}/requests`)).body;
    expect(items[0]).toMatchObject({ verdict: "valid", body: "x" });
    expect((await api.control("GET", `/receivers/${own.id}`)).text).not.toContain("my own");
  });

  it("receivers are listed, shown and deleted, and then 404 [interfaces 4]", async () => {
    const first = await api.receiver();
    await api.advance(1000);
    const second = await api.receiver();
    const { body } = await api.control("GET", "/receivers");
    expect(body.total).toBe(2);
    expect(body.items.map(({ id }: { id: string }) => id)).toEqual([second.id, first.id]);
    expect((await api.control("DELETE", `/receivers/${first.id}`)).status).toBe(204);
    expect((await api.control("GET", `/receivers/${first.id}`)).status).toBe(404);
    expect((await post(first.url, "{}")).status).toBe(404);
    expect((await post(`${api.url}/_receivers/nobody/rcv_x`, "{}")).status).toBe(404);
  });

  it.each([
    [{ answers: [] }, "answers"],
    [{ answers: [99] }, "answers[0]"],
    [{ answers: [200, "hnag"] }, "answers[1]"],
    [{ answers: [{ status: 200, delay: "soon" }] }, "answers[0].delay"],
    [{ answers: [{ delay: "1s" }] }, "answers[0].status"],
    [{ answer: [200] }, "answer"],
    [{ secret: 5 }, "secret"],
  ])("refuses %j with 422, naming %s [interfaces 4]", async (input, field) => {
    const answer = await api.control("POST", "/receivers", input);
    expect(answer.status, answer.text).toBe(422);
    expect(answer.body.field).toContain(field.split("[")[0]!);
  });

  it("a receiver accepts any Host and Origin, since it plays a partner's endpoint [interfaces 7]", async () => {
    const { url, requests } = await api.receiver();
    const status = await new Promise<number>((resolve, reject) => {
      const request = httpRequest(
        url,
        { method: "POST", headers: { host: "partner.example", origin: "https://evil.example" } },
        (response) => resolve(response.statusCode!),
      );
      request.on("error", reject);
      request.end("{}");
    });
    expect(status).toBe(200);
    expect(await requests()).toHaveLength(1);
  });

  describe("receivers in shared mode [interfaces 7]", () => {
    const token = "a-token-of-this-test";
    const authorization = { authorization: `Bearer ${token}` };
    let shared: WebhookApi;
    beforeEach(async () => {
      shared = await startWebhooks({ shared: { token }, allowHosts: ["sandbox.example.test"] });
    });
    afterEach(() => shared.close());

    const S = "/_control/sandboxes/default";
    const control = (method: string, path: string, body?: object) =>
      shared.call(undefined, method, S + path, body, authorization);
    /** Triggers an event for a webhook at this URL, and returns its delivery. */
    async function triggerTo(url: string) {
      await shared.webhook(url, ["user.created"]);
      const { deliveries } = (await control("POST", "/events", { event: "user.created" })).body;
      return deliveries[0];
    }

    it.each(["127.0.0.1", "localhost", "sandbox.example.test"])(
      "can be called at the given URL by the name of %s [interfaces 7]",
      async (host) => {
        const named = `${host}:${new URL(shared.url).port}`;
        const { body } = await control("POST", "/receivers", {});
        const url = `http://${named}${new URL(body.url).pathname}`;
        expect(await triggerTo(url)).toMatchObject({ status: "success", response_code: 200 });
        const { items } = (await control("GET", `/receivers/${body.id}/requests`)).body;
        expect(items).toMatchObject([{ verdict: "valid", headers: { host: named } }]);
      },
    );

    it("are the only part of this server that webhooks can call [interfaces 7]", async () => {
      const { port } = new URL(shared.url);
      const { id } = (await control("POST", "/receivers", {})).body;
      for (const place of [
        `127.0.0.1:${port}/_control/health`,
        `127.0.0.1:${port}/_receivers`,
        `127.0.0.1:${port}/_receivers/../_control/health`,
        `127.0.0.1:${port}/hook/_receivers/default/${id}`,
        `127.0.0.1:9/_receivers/default/${id}`,
        `10.0.0.1:${port}/_receivers/default/${id}`,
      ])
        expect([place, (await triggerTo(`http://${place}`)).response_code]).toEqual([place, 0]);
      const tls = `https://127.0.0.1:${port}/_receivers/default/${id}`;
      expect((await triggerTo(tls)).response_code).toBe(0);
      expect((await control("GET", `/receivers/${id}/requests`)).body.items).toEqual([]);
    });
  });

  it("a reset closes receivers and deletes their requests [interfaces 4]", async () => {
    const { id, url } = await api.receiver();
    await post(url, "{}");
    await api.control("POST", "/reset", {});
    expect((await post(url, "{}")).status).toBe(404);
    expect((await api.control("GET", `/receivers/${id}/requests`)).status).toBe(404);
  });

  it("the number of stored requests is bounded, and the oldest are deleted first [interfaces 7]", async () => {
    const { id } = await api.receiver();
    const { world } = api.understudy.sandboxes.get("default")!;
    const entry = {
      at: "",
      method: "POST",
      headers: {},
      body: "",
      verdict: "missing",
      reason: "",
      answer: "200",
    };
    const receivers = new SimulatedReceivers({
      findWorld: () => world,
      getSecret: () => undefined,
      listKnownSecrets: () => [],
      onLeaseEnd: () => {},
    });
    for (let n = 0; n < 10_050; n++)
      receivers["logRequest"](world, id, { ...entry, path: `${n}` } as ReceivedRequest);
    const kept = receivers.listRequests(world, id).map(({ path }) => path);
    expect([kept.length, kept[0], kept.at(-1)]).toEqual([10_000, "50", "10049"]);
  });

  it("the bytes of stored requests are bounded, headers and paths included [interfaces 7]", async () => {
    const { url, id } = (await api.control("POST", "/receivers")).body;
    for (const far of ["", "a".repeat(14_000)]) {
      for (let i = 0; i < 1_500; i += 50) {
        const long = { "x-long": "h".repeat(far === "" ? 14_000 : 1) };
        await Promise.all(Array.from({ length: 50 }, () => post(`${url}/${far}`, "{}", long)));
      }
      const kept = (await api.control("GET", `/receivers/${id}/requests`)).body.items;
      let bytes = 0;
      for (const { headers, path } of kept) bytes += headers["x-long"].length + path.length;
      expect(kept.length).toBeLessThan(1_300);
      expect(bytes).toBeLessThan(17 * 1024 * 1024);
      expect(bytes).toBeGreaterThan(14 * 1024 * 1024);
    }
  });

  it("a body beyond the limit is refused and not stored [interfaces 4]", async () => {
    const { url, requests } = await api.receiver();
    const outcome = await post(url, "x".repeat(11 * 1024 * 1024)).then(
      ({ status }) => status,
      () => "cut off",
    );
    expect([413, "cut off"]).toContain(outcome);
    expect(await requests()).toEqual([]);
  });
});

describe("the outbox [interfaces 4]", () => {
  it("contains the e-mails of the sandbox, newest first, until a reset [G15]", async () => {
    const { world } = api.understudy.sandboxes.get("default")!;
    world.transact((tx) => sendEmail(tx, { to: "ops@acme.test", subject: "One", body: "first" }));
    await api.advance(60_000);
    world.transact((tx) => sendEmail(tx, { to: "ops@acme.test", subject: "Two", body: "second" }));
    const { body } = await api.control("GET", "/outbox");
    expect(body.total).toBe(2);
    expect(body.items[0]).toEqual({
      id: expect.stringMatching(/^email_/),
      to: "ops@acme.test",
      subject: "Two",
      body: "second",
      at: "2026-03-15T12:01:00.000Z",
    });
    expect(body.items[1].subject).toBe("One");
    await api.control("POST", "/reset", {});
    expect((await api.control("GET", "/outbox")).body).toEqual({ items: [], total: 0 });
  });

  it("keeps the newest thousand e-mails [G15]", async () => {
    const { world } = api.understudy.sandboxes.get("default")!;
    world.transact((tx) => {
      for (let i = 0; i < 1200; i++) sendEmail(tx, { to: "a@b.test", subject: String(i), body: "" });
    });
    expect((await api.control("GET", "/outbox")).body.total).toBe(1000);
  });
});
