import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { EVENT_NAMES, findEventByName } from "../../src/engine/resources/events.ts";
import { startReceiver, startWebhooks, type WebhookApi } from "../support/webhook-setup.ts";

let api: WebhookApi;
beforeEach(async () => {
  api = await startWebhooks();
});
afterEach(() => api.close());

describe("POST S/events [interfaces 4]", () => {
  it.each(EVENT_NAMES)("triggers %s with the fields of its shape [6.1]", async (event) => {
    const receiver = await api.receiver();
    await api.webhook(receiver.url, [event]);
    const deliveries = await api.trigger({ event });
    expect(deliveries).toHaveLength(1);
    expect(deliveries[0]).toMatchObject({ event, status: "success", webhook_id: expect.any(String) });
    const [request] = await receiver.requests();
    const { data } = JSON.parse(request!.body);
    const optional = ["api_key_id"];
    expect(Object.keys(data)).toEqual(
      findEventByName(event)!.data.filter((name) => !optional.includes(name)),
    );
    expect(Object.values(data)).not.toContain(undefined);
  });

  it("gives the same payload for the same seed and clock [interfaces 4]", async () => {
    const bodies: string[] = [];
    for (const _ of [1, 2]) {
      const again = await startWebhooks({ seed: 5 });
      const receiver = await again.receiver();
      await again.webhook(receiver.url, ["invoice.paid"]);
      await again.trigger({ event: "invoice.paid" });
      bodies.push((await receiver.requests())[0]!.body);
      await again.close();
    }
    expect(bodies[0]).toBe(bodies[1]);
  });

  it("fills the data from the object `for`, and merges `data` over it [interfaces 4]", async () => {
    const receiver = await api.receiver();
    await api.webhook(receiver.url, ["user.updated", "thread.deleted", "user.created"]);
    await api.trigger({ event: "user.updated", for: "usr_cleo", data: { name: "Cleo M." } });
    await api.trigger({ event: "thread.deleted", for: "thread_welcome" });
    await api.trigger({ event: "user.created", for: "usr_cleo" });
    const data = (await receiver.requests()).map(({ body }) => JSON.parse(body).data);
    expect(data[0]).toMatchObject({
      user_id: "usr_cleo",
      name: "Cleo M.",
      email: "cleo@acme.test",
      verified: true,
    });
    expect(data[1]).toEqual({ thread_id: "thread_welcome", organization_id: "org_acme" });
    expect(Object.keys(data[2])).toEqual(["user_id", "email", "created_at"]);
  });

  it("usage.threshold of an organization and of a key has their own figures [G25]", async () => {
    const receiver = await api.receiver();
    await api.webhook(receiver.url, ["usage.threshold"]);
    await api.trigger({ event: "usage.threshold", for: "org_acme" });
    await api.trigger({ event: "usage.threshold", for: "apikey_ben" });
    const [organization, key] = (await receiver.requests()).map(({ body }) => JSON.parse(body).data);
    expect(organization).toEqual({
      organization_id: "org_acme",
      scope: "organization",
      monthly_limit: 1000,
      current_usage: 850,
      utilization_percentage: 85,
    });
    expect(key).toEqual({
      organization_id: "org_acme",
      scope: "api_key",
      api_key_id: "apikey_ben",
      monthly_limit: 200,
      current_usage: 160,
      utilization_percentage: 80,
    });
  });

  it("uses the object's organization, else the given one, else the first of the fixture [interfaces 4]", async () => {
    const acme = await api.receiver();
    const globex = await api.receiver();
    await api.webhook(acme.url, ["user.created", "message.created"]);
    await api.webhook(globex.url, ["user.created"], "eve");
    expect(await api.trigger({ event: "user.created" })).toHaveLength(1);
    expect(await api.trigger({ event: "user.created", for: "usr_eve" })).toHaveLength(1);
    expect(await api.trigger({ event: "user.created", organization: "org_globex" })).toHaveLength(1);
    const messages = (await api.control("GET", "/state/messages?thread_id=thread_welcome&limit=1")).body
      .items;
    expect(await api.trigger({ event: "message.created", for: messages[0].id })).toHaveLength(1);
    expect(await acme.requests()).toHaveLength(2);
    expect(await globex.requests()).toHaveLength(2);
  });

  it("uses the first organization of the fixture whatever its id [interfaces 4]", async () => {
    const fixture = {
      organizations: [{ id: "org_zeta" }, { id: "org_alpha" }],
      webhooks: [{ id: "wh_z", organization_id: "org_zeta", events: ["user.created"], active: true }],
    };
    const other = await startWebhooks({ fixture });
    expect(await other.trigger({ event: "user.created" })).toMatchObject([
      { webhook_id: "wh_z", response_code: 0 },
    ]);
    await other.close();
  });

  it.each([
    [{ event: "user.craeted" }, "event", "user.created"],
    [{ event: "webhook.test" }, "event", undefined],
    [{ event: "user.created", for: "usr_dam" }, "for", "usr_dan"],
    [{ event: "user.created", for: "thread_welcome" }, "for", undefined],
    [{ event: "usage.limit", for: "apikey_bem" }, "for", "apikey_ben"],
    [{ event: "user.created", data: { emial: "x" } }, "data.emial", "email"],
    [{ event: "user.created", organization: "org_acmee" }, "organization", "org_acme"],
    [{ event: "user.created", evnt: 1 }, "evnt", "event"],
    [{}, "event", undefined],
    [{ event: "user.created", data: [] }, "data", undefined],
  ])("refuses %j with 422, naming %s [interfaces 4]", async (body, field, hint) => {
    const before = api.understudy.sandboxes.get("default")!.world.root;
    const answer = await api.control("POST", "/events", body);
    expect(answer.status, answer.text).toBe(422);
    expect(answer.headers.get("content-type")).toContain("application/problem+json");
    expect(answer.body.field).toBe(field);
    if (hint !== undefined) expect(answer.body.hint).toBe(hint);
    expect(api.understudy.sandboxes.get("default")!.world.root).toBe(before);
  });
});

describe("an event of a real change [6.1]", () => {
  it("is thread.deleted for a deleted thread, and no message events [G25, 4.7]", async () => {
    const receiver = await api.receiver();
    const { webhook_id } = await api.webhook(receiver.url, ["thread.deleted", "message.deleted"]);
    await api.call("dan", "DELETE", "/v1/threads/thread_welcome");
    await api.understudy.sandboxes.get("default")!.world.whenSettled();
    expect((await api.deliveries(webhook_id)).map(({ event }) => event)).toEqual(["thread.deleted"]);
    expect(JSON.parse((await receiver.requests())[0]!.body).data).toEqual({
      thread_id: "thread_welcome",
      organization_id: "org_acme",
    });
  });

  it("is emitted by a state call as by the operation, and not if silent [G18]", async () => {
    const receiver = await api.receiver();
    const { webhook_id } = await api.webhook(receiver.url, ["invoice.created", "invoice.paid"]);
    await api.control("POST", "/state/invoices?silent=true", { organization_id: "org_acme", status: "paid" });
    await api.control("POST", "/state/invoices", { organization_id: "org_acme", status: "paid" });
    await api.understudy.sandboxes.get("default")!.world.whenSettled();
    expect((await api.deliveries(webhook_id)).map(({ event }) => event).sort()).toEqual([
      "invoice.created",
      "invoice.paid",
    ]);
  });

  it("is emitted by the clock for file.processed, at its due time, and delivered then [G11]", async () => {
    const receiver = await api.receiver([503, 200]);
    const { webhook_id } = await api.webhook(receiver.url, ["file.processed"]);
    const ran = await api.advanceBy("59m");
    expect(ran.map(({ kind }) => kind)).toEqual(["connector.job", "file.step", "webhook.retry"]);
    const [first, second] = await receiver.requests();
    expect(JSON.parse(first!.body)).toMatchObject({
      event: "file.processed",
      timestamp: first!.at,
      data: { file_id: "file_policies", store_id: "vs_handbook", status: "completed" },
    });
    expect(Date.parse(second!.at) - Date.parse(first!.at)).toBe(60_000);
    expect((await api.deliveries(webhook_id))[0]).toMatchObject({ status: "success", attempts: 2 });
    expect(await api.trigger({ event: "file.processed", for: "file_handbook" })).toHaveLength(1);
    expect(JSON.parse((await receiver.requests())[2]!.body).data).toMatchObject({
      file_id: "file_handbook",
      store_id: "vs_handbook",
      status: "completed",
    });
  });

  it.each([
    [
      { event: "user.creatd" },
      'event "user.creatd" is not an event of the service. Did you mean "user.created"?',
    ],
    [
      { event: "elephant" },
      'event "elephant" is not an event of the service, which has user.created, user.updated,',
    ],
    [{ event: "file.processed", for: "file_hanbook" }, 'not "file_hanbook". Did you mean "file_handbook"?'],
    [{ event: "user.created", organization: "org_acne" }, 'not "org_acne". Did you mean "org_acme"?'],
    [
      { event: "user.created", data: { emial: 1 } },
      "data.emial is not a field of user.created, whose data has",
    ],
  ])("is refused as %j with the wrong word and the nearest one [interfaces 4]", async (body, detail) => {
    const answer = await api.call(undefined, "POST", "/_control/sandboxes/default/events", body);
    expect(answer.status).toBe(422);
    expect(answer.body.detail).toContain(detail);
  });

  it("reaches only subscribed and active webhooks of its organization [6.1]", async () => {
    const receivers = await Promise.all([api.receiver(), api.receiver(), api.receiver(), api.receiver()]);
    await api.webhook(receivers[0]!.url, ["user.created"]);
    await api.webhook(receivers[1]!.url, ["user.deleted"]);
    await api.webhook(receivers[2]!.url, ["user.created"], "eve");
    const inactive = await api.webhook(receivers[3]!.url, ["user.created"]);
    await api.call("ada", "PUT", `/webhooks/${inactive.webhook_id}`, { active: false });
    await api.trigger();
    const counts = await Promise.all(receivers.map(async (receiver) => (await receiver.requests()).length));
    expect(counts).toEqual([1, 0, 0, 0]);
  });

  it("is not awaited by its call after a restore, although the restored world sends it again [interfaces 4]", async () => {
    const held: ((status: number) => void)[] = [];
    const receiver = await startReceiver((_request, _body, respond) => void held.push(respond));
    try {
      await api.webhook(receiver.url);
      const waiting = api.trigger();
      await expect.poll(() => held.length).toBe(1);
      // The attempt is still in progress in the snapshot. The restored world makes it again, under an id of its own.
      await api.control("POST", "/snapshots", { name: "meanwhile" });
      await api.control("POST", "/snapshots/meanwhile/restore");
      expect(await waiting).toEqual([]);
      // The second attempt is not answered yet, so the call did not wait for it.
      await expect.poll(() => held.length).toBe(2);
      for (const respond of held) respond(200);
    } finally {
      await receiver.close();
    }
  });

  it("is not emitted for a refused change [6.1]", async () => {
    const receiver = await api.receiver();
    await api.webhook(receiver.url, ["thread.deleted"]);
    expect((await api.call("dan", "DELETE", "/v1/threads/thread_ada")).status).toBe(403);
    await api.understudy.sandboxes.get("default")!.world.whenSettled();
    expect(await receiver.requests()).toEqual([]);
  });
});
