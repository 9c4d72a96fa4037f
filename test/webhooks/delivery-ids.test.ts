import { afterEach, beforeEach, expect, it } from "vitest";
import { type Api, startReference } from "../support/harness.ts";

let api: Api;
beforeEach(async () => {
  api = await startReference();
});
afterEach(() => api.close());

const control = async (path: string, body: object = {}) =>
  api.call(undefined, "POST", `/_control/sandboxes${path}`, body);

/** The ids of a webhook's first three deliveries, after the same calls in each sandbox. */
async function makeDeliveries(sandbox: string): Promise<string[]> {
  const { url } = (await control(`/${sandbox}/receivers`)).body;
  const created = await api.call("ada", "POST", `/_s/${sandbox}/webhooks`, { url, events: ["user.created"] });
  expect(created.status).toBe(201);
  const ids: string[] = [];
  for (let n = 0; n < 3; n++) {
    const { body } = await control(`/${sandbox}/events`, { event: "user.created", organization: "org_acme" });
    ids.push(...body.deliveries.map(({ delivery_id }: { delivery_id: string }) => delivery_id));
  }
  return ids;
}

it("delivery ids differ between sandboxes and after a reset, and sort newest first [interfaces 5]", async () => {
  await control("", { name: "other" });
  const first = await makeDeliveries("default");
  expect(first.length).toBeGreaterThanOrEqual(3);
  expect([...first].sort()).toEqual([...first].reverse());
  for (const id of first) expect(id).toMatch(/^del_[A-Za-z0-9_-]{1,120}$/);
  const other = await makeDeliveries("other");
  await control("/default/reset");
  const again = await makeDeliveries("default");
  expect(new Set([...first, ...other, ...again]).size).toBe(first.length * 3);
});

it("an event of webhook.test names the test call [interfaces 4]", async () => {
  const { status, body } = await control("/default/events", { event: "webhook.test" });
  expect([status, body.field]).toEqual([422, "event"]);
  expect(body.detail).toContain("POST /webhooks/{webhook_id}/test");
});
