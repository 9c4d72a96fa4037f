import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Api, startReference } from "../support/harness.ts";
import { createHistoryClient } from "../support/history-setup.ts";

let api: Api;
let history: ReturnType<typeof createHistoryClient>;
beforeEach(async () => {
  api = await startReference();
  history = createHistoryClient(api);
});
afterEach(() => api.close());

const rename = (title: string) => history.ok("PATCH", "/state/threads/thread_ada", { title });

describe("forking and repeating [interfaces 10]", () => {
  it("forks from before or after any entry, undone ones included, and leaves the sandbox alone [interfaces 10]", async () => {
    const readTitle = async (of: ReturnType<typeof createHistoryClient>) =>
      (await of.ok("GET", "/state/threads/thread_ada")).title;
    const first = await readTitle(history);
    await rename("second");
    const { id } = await history.newest();
    await rename("third");
    await history.rewind(id);
    for (const [name, to, wanted] of [
      ["was", undefined, first],
      ["is", "after", "second"],
    ]) {
      const fork = await history.ok("POST", `/history/${id}/fork`, { name, to });
      expect(fork).toMatchObject({ name, restarted_uploads: [] });
      expect(await readTitle(createHistoryClient(api, name!))).toBe(wanted);
    }
    expect(await readTitle(history)).toBe(first);
    expect((await createHistoryClient(api, "is").list()).total).toBe(0);
    const taken = await history.control("POST", `/history/${id}/fork`, { name: "is" });
    expect(taken.body.type).toBe("urn:understudy:problem:name-in-use");
  });

  it("keeps what is left of a rule's lease in a fork from another time [interfaces 10]", async () => {
    await rename("early");
    const early = await history.newest();
    await history.ok("POST", "/clock/advance", { by: "1h" });
    const late = await history.newest("?kind=control");
    await history.ok("POST", "/faults", { id: "short", effect: { status: 503 }, lease: { ttl: "1m" } });
    await history.ok("POST", `/history/${early.id}/fork`, { name: "early", to: "after" });
    await history.rewind(early.id, "after");
    await history.ok("POST", `/history/${late.id}/fork`, { name: "late", to: "after" });
    const findEnds = async (name: string) => {
      const fork = createHistoryClient(api, name);
      const [{ lease }] = (await fork.ok("GET", "/faults")).items;
      const pending: { kind: string; due_at: string }[] = await fork.ok("GET", "/clock/pending");
      return [lease.ends_at, ...pending.flatMap(({ kind, due_at }) => (kind === "lease" ? [due_at] : []))];
    };
    expect(await findEnds("early")).toEqual(Array(2).fill("2026-03-15T12:01:00.000Z"));
    expect(await findEnds("late")).toEqual(Array(2).fill("2026-03-15T13:01:00.000Z"));
  });

  it("repeats a request by the same caller and lists the differences of the answers [interfaces 10]", async () => {
    await api.call("ada", "DELETE", "/v1/threads/thread_ada");
    const { id, request } = await history.newest();
    const again = await history.ok("POST", `/history/${id}/repeat`);
    expect(again.same).toBe(false);
    expect(again.differences[0]).toMatchObject({ what: "status", after: 404 });
    expect(again.request).not.toBe(request);
    const [first, second] = await Promise.all(
      [request, again.request].map((one) => history.ok("GET", `/journal/${one}`)),
    );
    expect(second).toMatchObject({ principal: first.principal, method: "DELETE", path: first.path });
    await history.ok("POST", `/history/${id}/fork`, { name: "branch" });
    const there = await history.ok("POST", `/history/${id}/repeat`, { in: "branch" });
    expect(there).toMatchObject({ same: true, differences: [] });
    const wrong = await history.control("POST", `/history/${id}/repeat`, { in: "branhc" });
    expect(wrong.body).toMatchObject({ status: 422, field: "in", hint: "branch" });
  });

  it("sends a body again unchanged [interfaces 10]", async () => {
    const path = "/v1/organizations/org_acme/departments/dept_ml/reparent";
    await api.call("ada", "POST", path, { new_parent_id: "dept_ops" });
    const { id } = await history.newest();
    await history.rewind(id);
    expect(await history.ok("POST", `/history/${id}/repeat`)).toMatchObject({ same: true });
    expect((await history.ok("GET", "/state/departments/dept_ml")).parent_id).toBe("dept_ops");
  });

  it("repeats under a rule that matches only this request and is removed afterwards [interfaces 10]", async () => {
    await rename("kept");
    await api.call("ada", "DELETE", "/v1/threads/thread_ada");
    const { id } = await history.newest("?kind=request");
    await history.rewind(id);
    const rule = { effect: { error: "INSUFFICIENT_PERMISSIONS" } };
    const refused = await history.ok("POST", `/history/${id}/repeat`, { with: rule });
    expect(refused.differences[0]).toMatchObject({ what: "status", after: 403 });
    expect((await history.ok("GET", "/faults")).total).toBe(0);
    expect((await history.ok("GET", `/journal/${refused.request}`)).decision).toMatch(
      /^fault:inline\/repeat-/,
    );
    await history.ok("GET", "/state/threads/thread_ada");
    const broken = await history.ok("POST", `/history/${id}/repeat`, { with: { effect: { wire: "reset" } } });
    expect(broken.differences[0]).toMatchObject({ what: "status", after: 0 });
    const wrong = await history.control("POST", `/history/${id}/repeat`, {
      with: { effect: { error: "NOWHERE" } },
    });
    expect(wrong.status).toBe(422);
  });

  it.each([
    ["operation", "threads.delete"],
    ["operation", "threads.*"],
    ["event", "user.created"],
    ["webhook", "wh_1"],
  ])(
    "refuses a rule that can never match the repeated request, by its %s %s [interfaces 10]",
    async (key, value) => {
      const id = (await api.call("ada", "GET", "/v1/models")).headers.get("x-request-id");
      const rule = { match: { [key]: value }, effect: { status: 500 } };
      const { status, body } = await history.control("POST", `/history/${id}/repeat`, { with: rule });
      expect([status, body.field, body.value]).toEqual([422, `with.match.${key}`, value]);
      const fitting = { match: { operation: "models.*" }, effect: { error: "INTERNAL_ERROR" } };
      expect(await history.ok("POST", `/history/${id}/repeat`, { with: fitting })).toMatchObject({
        same: false,
      });
    },
  );

  it("repeats a request that changed nothing, by its id in the journal [interfaces 10]", async () => {
    const answer = await api.call("dan", "DELETE", "/v1/threads/thread_none");
    const id = answer.headers.get("x-request-id")!;
    const again = await history.ok("POST", `/history/${id}/repeat`);
    expect(again).toMatchObject({ same: true, differences: [] });
    expect(again.request).not.toBe(id);
    const { body } = await history.control("GET", `/journal/${again.request}`);
    expect([body.status, body.principal, body.path]).toEqual([404, "usr_dan", "/v1/threads/thread_none"]);
  });

  it("does not take the time of an error for a difference [interfaces 10]", async () => {
    const path = "/v1/organizations/org_acme/departments/dept_none/reparent";
    const answer = await api.call("ada", "POST", path, { new_parent_id: null });
    expect(answer.body.error).toHaveProperty("timestamp");
    await api.advance(1000);
    const again = await history.ok("POST", `/history/${answer.headers.get("x-request-id")}/repeat`);
    expect(again).toMatchObject({ same: true, differences: [] });
  });

  it("repeats only requests whose bytes the journal has [interfaces 10]", async () => {
    await rename("by the control API");
    const control = await history.newest();
    const answer = await history.control("POST", `/history/${control.id}/repeat`);
    expect([answer.status, answer.body.type]).toEqual([409, "urn:understudy:problem:not-repeatable"]);
    await api.call("ada", "DELETE", "/v1/threads/thread_ada");
    const { id } = await history.newest();
    await history.ok("DELETE", "/journal");
    expect((await history.control("POST", `/history/${id}/repeat`)).status).toBe(409);
  });

  it("sends no delivery to the emulated API [interfaces 10]", async () => {
    const { url } = await history.ok("POST", "/receivers", {});
    const webhook = { organization_id: "org_acme", url, events: ["user.created"] };
    await history.ok("POST", "/state/webhooks", webhook);
    await history.ok("POST", "/events", { event: "user.created", organization: "org_acme" });
    await history.ok("POST", "/clock/advance", { by: "1s" });
    const [delivery] = (await history.ok("GET", "/journal?kind=delivery")).entries;
    for (const id of [delivery.id, delivery.seq]) {
      const { status, body } = await history.control("POST", `/history/${id}/repeat`);
      expect([status, body.type]).toEqual([409, "urn:understudy:problem:not-repeatable"]);
    }
    expect((await history.ok("GET", "/journal?kind=request")).total).toBe(0);
  });
});
