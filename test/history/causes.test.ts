import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createHistoryClient } from "../support/history-setup.ts";
import { startWebhooks, type WebhookApi } from "../support/webhook-setup.ts";

const JOBS = "/v1/organizations/org_acme/knowledge/connectors/jobs";

let api: WebhookApi;
let history: ReturnType<typeof createHistoryClient>;
beforeEach(async () => {
  api = await startWebhooks();
  history = createHistoryClient(api);
});
afterEach(() => api.close());

/** Registers a user, whose event goes to a webhook with these responses. */
async function registerUser(answers: unknown[]) {
  const { url } = await api.receiver(answers);
  return api.webhook(url, ["thread.deleted"]);
}

describe("the cause of an entry [interfaces 10]", () => {
  it("is the event's request for an attempt, and the attempt before for a retry [interfaces 10]", async () => {
    const { webhook_id } = await registerUser([500, 500, 200]);
    await api.call("ada", "DELETE", "/v1/threads/thread_ada");
    const sandbox = api.understudy.sandboxes.get("default")!;
    await sandbox.world.whenSettled();
    const request = await history.newest("?kind=request");
    await history.ok("POST", "/clock/advance", { by: "10m" });
    const advance = await history.newest("?kind=control");
    const attempts = await history.entries("?kind=delivery");
    expect(attempts.map(({ cause, advanced_by }) => [cause, advanced_by])).toEqual([
      [request.id, null],
      [attempts[0]!.id, advance.id],
      [attempts[1]!.id, advance.id],
    ]);
    expect(attempts.map(({ title }) => title)).toEqual([
      `The first attempt to deliver thread.deleted to ${webhook_id} was answered 500.`,
      `A retry of thread.deleted to ${webhook_id} was answered 500.`,
      `A retry of thread.deleted to ${webhook_id} was answered 200.`,
    ]);
    expect(attempts.map(({ delivered }) => delivered)).toEqual([false, false, true]);
    expect([request.delivered, advance.delivered]).toEqual([null, null]);
    expect(new Set(attempts.map(({ subject }) => subject)).size).toBe(1);
    const last = await history.get(attempts[2]!.id);
    expect(last.causes).toEqual([attempts[1]!.id, advance.id, attempts[0]!.id, request.id]);
    expect((await history.get(request.id)).effects).toEqual([attempts[0]!.id]);
    // Timers of the fixture ran too.
    const { effects } = await history.get(advance.id);
    expect(effects).toEqual(expect.arrayContaining([attempts[1]!.id, attempts[2]!.id]));
    expect((await history.entries(`?cause=${advance.id}`)).map(({ id }) => id)).toEqual(effects);
    expect((await history.entries(`?subject=${attempts[0]!.subject}`)).length).toBe(3);
  });

  it("is the request for a redelivery [interfaces 10]", async () => {
    const { webhook_id } = await registerUser([500, 200]);
    await api.call("ada", "DELETE", "/v1/threads/thread_ada");
    await api.understudy.sandboxes.get("default")!.world.whenSettled();
    const [first] = await api.deliveries(webhook_id);
    const { delivery_id } = first!;
    const answer = await api.call(
      "ada",
      "POST",
      `/webhooks/${webhook_id}/deliveries/${delivery_id}/redeliver`,
    );
    expect(answer.status, answer.text).toBeLessThan(300);
    const request = await history.newest("?kind=request");
    expect(request.request).toBe(answer.headers.get("x-request-id"));
    expect(await history.newest("?kind=delivery")).toMatchObject({ cause: request.id, subject: delivery_id });
  });

  it("is the attaching and the advance for every step of a file [interfaces 10]", async () => {
    const path = "/v1/organizations/org_acme/stores/vs_empty/files";
    await api.call("dan", "POST", path, { file_id: "file_loose" });
    const attach = await history.newest();
    await history.ok("POST", "/clock/advance", { by: "2m" });
    const advance = await history.newest("?kind=control");
    const steps = (await history.entries("?kind=timer")).filter(({ subject }) => subject === "file_loose");
    expect(steps.length).toBeGreaterThan(1);
    for (const step of steps) expect(step).toMatchObject({ cause: attach.id, advanced_by: advance.id });
    expect((await history.get(steps.at(-1)!.id)).causes).toEqual([attach.id, advance.id]);
    expect(steps.at(-1)!.changes).toMatchObject({ store_files: { changed: 1 } });
  });

  it("is the trigger for a job's end, and absent for calls, switches and restores [interfaces 10]", async () => {
    const job = { connection_id: "conn_wiki", job_type: "sync" };
    const { status } = await api.call("dan", "POST", JOBS, job);
    expect(status).toBe(201);
    const triggered = await history.newest();
    await history.ok("POST", "/clock/advance", { by: "1m" });
    const ended = (await history.entries("?kind=timer")).find(({ subject }) => subject === triggered.subject);
    expect(ended).toMatchObject({ cause: triggered.id, changes: { connector_jobs: { changed: 1 } } });
    await history.ok("PUT", "/scenarios/active", { names: ["slow-network"] });
    await history.rewind(triggered.id);
    const first = (await history.entries()).filter(({ kind }) => kind !== "timer" && kind !== "delivery");
    expect(new Set(first.map(({ kind }) => kind))).toEqual(
      new Set(["request", "control", "scenario", "restore"]),
    );
    expect(first.map(({ cause }) => cause)).toEqual(first.map(() => null));
  });

  it("is the call that set the clock forward [interfaces 10]", async () => {
    const path = "/v1/organizations/org_acme/stores/vs_empty/files";
    await api.call("dan", "POST", path, { file_id: "file_loose" });
    await history.ok("PUT", "/clock", { mode: "frozen", now: "2026-03-15T12:10:00.000Z" });
    const set = await history.newest("?kind=control");
    const [step] = (await history.entries("?kind=timer")).filter(({ subject }) => subject === "file_loose");
    expect(step!.advanced_by).toBe(set.id);
  });

  it("is the running timer for an event that it emits [interfaces 10]", async () => {
    const { url } = await api.receiver();
    await api.webhook(url, ["file.processed"]);
    await api.call("dan", "POST", "/v1/organizations/org_acme/stores/vs_empty/files", {
      file_id: "file_loose",
    });
    await history.ok("POST", "/clock/advance", { by: "2m" });
    const attempts = await history.entries("?kind=delivery");
    const timers = await history.entries("?kind=timer");
    const last = timers.findLast(({ subject }) => subject === "file_loose")!;
    expect(attempts.map(({ cause }) => cause)).toContain(last.id);
  });

  it("is the switch of a rule for the end of its lease; its change and removal are entries too [interfaces 10]", async () => {
    const rule = { id: "short", match: { operation: "threads.*" }, effect: { error: "RATE_LIMIT_EXCEEDED" } };
    await history.ok("POST", "/faults", { ...rule, lease: { ttl: "1m" } });
    const armed = await history.newest();
    expect(armed).toMatchObject({ kind: "scenario", subject: "short", title: "The rule short was armed." });
    await history.ok("POST", "/clock/advance", { by: "1m" });
    expect(await history.newest("?kind=timer")).toMatchObject({ cause: armed.id, subject: "short" });
    const { entries } = await history.list();
    // The second call changes only its counts.
    for (const _ of ["changed", "begun again"])
      await history.ok("PUT", "/faults/short", { ...rule, times: 2 });
    const added = (await history.list()).entries.slice(0, -entries.length);
    expect(added.map(({ kind, title }) => [kind, title])).toEqual(
      Array(2).fill(["scenario", "The rule short was changed."]),
    );
    await history.ok("DELETE", "/faults/short");
    expect(await history.newest()).toMatchObject({ kind: "scenario", title: "The rule short was disarmed." });
  });

  it("orders entries of one instant by the journal's position [interfaces 10]", async () => {
    await history.ok("PUT", "/clock", { mode: "frozen" });
    const getSequence = async (id: string | null) => (await history.ok("GET", `/journal/${id}`)).sequence;
    const getRequestId = ({ headers }: { headers: Headers }) => headers.get("x-request-id");
    const passed = await api.call("dan", "GET", "/v1/models");
    await history.ok("POST", "/faults", { match: { operation: "models.list" }, effect: { status: 503 } });
    const triggered = await api.call("dan", "GET", "/v1/models");
    expect(triggered.status).toBe(503);
    const rule = await history.newest("?kind=scenario");
    expect(rule.journal_position).toBe(await getSequence(getRequestId(passed)));
    expect(rule.journal_position).toBeLessThan(await getSequence(getRequestId(triggered)));
    const deleted = await api.call("ada", "DELETE", "/v1/threads/thread_ada");
    const own = await history.newest("?kind=request");
    expect(own.journal_position).toBe((await getSequence(getRequestId(deleted))) - 1);
  });

  it("is the control call for delivery attempts of a trigger [interfaces 10]", async () => {
    const { url } = await api.receiver();
    await api.webhook(url, ["user.created"]);
    const [first] = await api.trigger();
    const { delivery_id } = first!;
    const call = await history.newest("?kind=control");
    expect(call).toMatchObject({
      subject: "usr_dan",
      title: "The event user.created was triggered for usr_dan.",
    });
    expect(await history.newest("?kind=delivery")).toMatchObject({ cause: call.id, subject: delivery_id });
  });

  it("is absent for switched scenarios, settings, records and clocks, which are entries if they change something [interfaces 10]", async () => {
    const before = (await history.list()).total;
    const [{ name }] = (await history.ok("GET", "/scenarios")).items;
    await history.ok("PUT", "/scenarios/active", { names: [name] });
    await history.ok("PUT", "/scenarios/active", { names: [name] });
    await history.ok("DELETE", "/faults");
    await history.ok("PATCH", "", { settings: { processing_seconds: 5 } });
    const thread = await history.ok("POST", "/state/threads", { title: "Plans" });
    await history.ok("PATCH", `/state/threads/${thread.id}`, { title: "Other plans" });
    await history.ok("DELETE", `/state/threads/${thread.id}`);
    await history.ok("POST", "/clock/advance", { next: true });
    await history.ok("PUT", "/clock", { mode: "real" });
    await history.ok("POST", "/snapshots", { name: "kept" });
    await history.ok("POST", "/snapshots/kept/restore");
    const entries = (await history.entries()).filter(({ kind }) => kind !== "timer").slice(before);
    expect(entries.map(({ kind, subject }) => [kind, subject])).toEqual([
      ["scenario", null],
      ["control", null],
      ["control", thread.id],
      ["control", thread.id],
      ["control", thread.id],
      ["control", null],
      ["control", null],
      ["restore", "kept"],
    ]);
    expect(entries[2]!.changes.threads).toEqual({ added: 1, removed: 0, changed: 0 });
    expect(entries.every(({ title }) => /^[A-Z_a-z].*\.$/.test(title))).toBe(true);
  });
});
