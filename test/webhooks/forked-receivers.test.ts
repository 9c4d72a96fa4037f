import { afterAll, beforeAll, expect, it } from "vitest";
import { connect } from "../../src/client/connect.ts";
import { type Api, KEYS, startReference } from "../support/harness.ts";

let api: Api;
beforeAll(async () => {
  api = await startReference();
});
afterAll(() => api.close());

const headers = { "api-key": KEYS.ada, "content-type": "application/json" };
const RULES = "/v1/organizations/org_acme/knowledge/connectors/notifications";

it("deliveries of a fork or of another sandbox's snapshot do not reach the receivers of the original [interfaces 4]", async () => {
  const server = connect(api.url);
  const original = await server.open("default");
  const { url, id } = await original.receivers.add();
  const events = ["thread.deleted"];
  const elsewhere = "https://partner.example/hook";
  for (const target of [`${url}/below?a=1`, elsewhere]) {
    const body = JSON.stringify({ url: target, events });
    expect((await original.fetch("/webhooks", { method: "POST", headers, body })).status).toBe(201);
  }
  const [newest] = (await original.history.list()).entries;
  const notifications = [
    { type: "webhook", url, events },
    { type: "email", email: "ops@acme.example", events },
  ];
  const rules = { method: "PATCH", headers, body: JSON.stringify({ notifications }) };
  expect((await original.fetch(RULES, rules)).status).toBe(200);
  await original.snapshots.save("prepared");
  await server.fork("default", "forked");
  await original.history.fork(newest!.id, { name: "branched", to: "after" });
  const imported = await server.sandbox({ name: "imported" });
  await imported.snapshots.import("prepared", await original.snapshots.export("prepared"));
  await imported.snapshots.restore("prepared");

  for (const name of ["forked", "imported", "branched"]) {
    const sandbox = await server.open(name);
    const own = url.replace("/default/", `/${name}/`);
    const [first] = (await sandbox.history.list()).entries.toReversed();
    if (name !== "imported") await sandbox.history.rewind(first!.id, "before");
    const { items: webhooks } = await sandbox.state("webhooks").list();
    expect(webhooks.map((webhook) => webhook.url)).toEqual(
      expect.arrayContaining([`${own}/below?a=1`, elsewhere]),
    );
    const { items: configs } = await sandbox.state("connector_notifications").list();
    const rulesOf = configs.map((config) => config.notifications.map((rule) => rule.url));
    expect(rulesOf).toEqual(name === "branched" ? [] : [[own, undefined]]);
    await sandbox.fetch("/v1/threads/thread_welcome", { method: "DELETE", headers: { "api-key": KEYS.dan } });
    await expect.poll(async () => (await sandbox.receivers.requests(id)).items).not.toEqual([]);
  }
  expect((await original.receivers.requests(id)).items).toEqual([]);
});
