import { afterAll, beforeAll, expect, it } from "vitest";
import { createHistoryClient } from "../support/history-setup.ts";
import { startWebhooks, type WebhookApi } from "../support/webhook-setup.ts";

let api: WebhookApi;
beforeAll(async () => {
  api = await startWebhooks();
});
afterAll(() => api.close());

it("an organization deleted by mistake is restored with its dependents, and compared in a branch [interfaces 10]", async () => {
  const history = createHistoryClient(api);
  const readWorld = async (of = history) => ({
    counts: (await of.ok("GET", "")).counts as Record<string, number>,
    pending: await of.ok("GET", "/clock/pending"),
    clock: await of.ok("GET", "/clock"),
  });
  // Two timers are pending: a file in processing and the retry of a delivery.
  const { url } = await api.receiver([500, 200]);
  const { webhook_id } = await api.webhook(url, ["user.updated"]);
  const attached = await api.call("dan", "POST", "/v1/organizations/org_acme/stores/vs_empty/files", {
    file_id: "file_loose",
  });
  expect(attached.status, attached.text).toBeLessThan(300);
  await api.trigger({ event: "user.updated", for: "usr_dan" });
  const before = await readWorld();
  const due = before.pending.map(({ kind }: { kind: string }) => kind);
  expect(due).toEqual(expect.arrayContaining(["file.step", "webhook.retry"]));

  await history.ok("DELETE", "/state/organizations/org_acme");
  const deletion = await history.newest("?kind=control");
  expect(deletion).toMatchObject({ subject: "org_acme", kept: true });

  // The history entry lists every deleted record.
  const after = await readWorld();
  for (const [collection, { removed, added }] of Object.entries(deletion.changes))
    expect(before.counts[collection]! - removed + added, collection).toBe(after.counts[collection]);
  const gone = Object.keys(before.counts).filter((name) => before.counts[name]! > after.counts[name]!);
  expect(gone).toEqual(expect.arrayContaining(["organizations", "departments", "webhooks", "deliveries"]));
  const changes = await history.changes(deletion.id);
  for (const name of gone) {
    const removed = changes[name]!.filter((change) => change.after === null);
    expect(removed, name).toHaveLength(deletion.changes[name]!.removed);
    expect(removed.every((change) => change.before !== null)).toBe(true);
  }
  expect(changes["organizations"]!.map(({ id }) => id)).toContain("org_acme");
  expect(after.pending.length).toBeLessThan(before.pending.length);

  // A branch from before the deletion, for comparison, and a rewind here.
  await history.ok("POST", `/history/${deletion.id}/fork`, { name: "spared" });
  await history.rewind(deletion.id);
  expect(await readWorld()).toEqual(before);
  const spared = createHistoryClient(api, "spared");
  expect(await readWorld(spared)).toEqual(before);
  expect(await history.newest("?kind=control")).toMatchObject({ id: deletion.id, undone: true });

  // The rewind restores timers too: the file completes, and the retry of the delivery succeeds.
  await history.ok("POST", "/clock/advance", { by: "2m" });
  expect(await api.deliveries(webhook_id)).toMatchObject([{ status: "success", attempts: 2 }]);
  const file = await history.ok("GET", "/state/store_files?file_id=file_loose");
  expect(file.items).toMatchObject([{ status: "completed" }]);
  const retry = (await history.entries("?kind=delivery")).at(-1)!;
  const { causes } = await history.get(retry.id);
  expect(causes).not.toContain(deletion.id);

  // The branch changes independently. A snapshot of it shows the differences.
  await spared.ok("DELETE", "/state/organizations/org_acme");
  const file_of_branch = await spared
    .ok("POST", "/snapshots", { name: "branch" })
    .then(() => spared.ok("GET", "/snapshots/branch"));
  await history.ok("PUT", "/snapshots/branch", file_of_branch);
  const difference = await history.ok("GET", "/snapshots/branch/diff/now");
  expect(difference.added.organizations.map(({ id }: { id: string }) => id)).toEqual(["org_acme"]);
  expect(difference.removed).not.toHaveProperty("organizations");
});
