import { beforeEach, describe, expect, it } from "vitest";
import type { JournalEntry } from "../../types/control-api.ts";
import { useReference } from "../support/use-reference.ts";

const api = useReference();
const control = (method: string, path: string, body?: unknown) =>
  api.call(undefined, method, `/_control/sandboxes/default${path}`, body);
beforeEach(async () => {
  await control("POST", "/reset");
});

const fetchNewest = async (): Promise<JournalEntry> =>
  (await control("GET", "/journal?limit=1")).body.entries[0];

describe("the journal's description of a fault", () => {
  it("says for a delay that the answer is the operation's own, also if that is a refusal [interfaces 4]", async () => {
    await control("POST", "/faults", {
      id: "slow",
      match: { principal: "usr_dan" },
      effect: { delay: "20ms" },
    });
    await api.call("dan", "GET", "/v1/models");
    expect((await fetchNewest()).fault).toEqual({ by: "inline/slow", delay_ms: 20, replaced: "nothing" });
    await api.call("dan", "DELETE", "/v1/threads/thread_none");
    expect(await fetchNewest()).toMatchObject({
      decision: "access",
      fault: { by: "inline/slow", delay_ms: 20 },
    });
    await api.call("ada", "GET", "/v1/models");
    expect(await fetchNewest()).not.toHaveProperty("fault");
  });

  it.each([
    [{ status: 503 }, "response", 0],
    [{ error: "RATE_LIMIT_EXCEEDED", delay: "10ms" }, "response", 10],
    [{ wire: "reset" }, "connection", 0],
  ])("says that %o replaced the %s [interfaces 4]", async (effect, replaced, delay_ms) => {
    await control("POST", "/faults", { id: "one", match: { operation: "models.list" }, effect });
    await api.call("dan", "GET", "/v1/models").catch(() => {});
    expect((await fetchNewest()).fault).toEqual({ by: "inline/one", delay_ms, replaced });
  });

  it("sums up the delays before and after the operation", async () => {
    for (const [id, phase] of Object.entries({ first: "before", second: "after" }))
      await control("POST", "/faults", {
        id,
        match: { operation: "models.list" },
        phase,
        effect: { delay: "15ms" },
      });
    await api.call("dan", "GET", "/v1/models");
    expect((await fetchNewest()).fault).toEqual({ by: "inline/second", delay_ms: 30, replaced: "nothing" });
  });

  it("is the same for deliveries [interfaces 14]", async () => {
    const { body: receiver } = await control("POST", "/receivers", { answers: [200] });
    await api.call("ada", "POST", "/webhooks", { url: receiver.url, events: ["thread.deleted"] });
    for (const [effect, replaced] of [
      [{ status: 500 }, "response"],
      [{ wire: "reset" }, "connection"],
      [{ delay: "10ms" }, "nothing"],
    ] as const) {
      await control("DELETE", "/faults");
      await control("POST", "/faults", { match: { event: "thread.deleted" }, effect });
      await control("POST", "/events", { event: "thread.deleted" });
      const { entries } = (await control("GET", "/journal?kind=delivery&limit=1")).body;
      expect(entries[0].fault).toMatchObject({ replaced });
    }
  });
});

describe("the header of a control call that changed something", () => {
  it("names the entry of the history that undoes it [interfaces 10]", async () => {
    const [path, ask] = ["/state/users/usr_dan", { "x-understudy-history": "wanted" }];
    const plain = await control("PATCH", path, { name: "Dani" });
    expect(plain.headers.has("x-understudy-history")).toBe(false);
    const changed = await fetch(`${api.url}/_control/sandboxes/default${path}`, {
      method: "PATCH",
      headers: { "content-type": "application/json", ...ask },
      body: JSON.stringify({ name: "Daniel" }),
    });
    const id = changed.headers.get("x-understudy-history");
    await control("POST", `/history/${id}/rewind`, { to: "before" });
    expect((await control("GET", path)).body.name).toBe("Dani");
  });
});
