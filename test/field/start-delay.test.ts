import { describe, expect, it } from "vitest";
import { startReference } from "../support/harness.ts";

describe("start --delay", () => {
  it("delays only the emulated API: nothing else waits an hour", async () => {
    const api = await startReference({ delay: "1h" });
    const S = "/_control/sandboxes/default";
    const headers = { "api-key": "ak_danMemberAcme00000000000000000000000000" };
    const delayed = fetch(`${api.url}/v1/models`, { headers });
    const made = await api.call(undefined, "POST", `${S}/receivers`, {});
    for (const [method, path, body, status] of [
      ["GET", "/_control/health", undefined, 200],
      ["GET", "/_control/sandboxes", undefined, 200],
      ["GET", `${S}/state/users`, undefined, 200],
      ["POST", `${S}/events`, { event: "user.created" }, 200],
      ["POST", `${S}/clock/advance`, { by: "1h" }, 200],
      ["POST", `${S}/faults/explain`, { operation: "models.list" }, 200],
      ["POST", `${S}/reset`, {}, 200],
      ["GET", "/_console/", undefined, 200],
      ["POST", new URL(made.body.url).pathname, {}, 404],
      ["GET", "/_nothing", undefined, 404],
    ] as const)
      expect([path, (await api.call(undefined, method, path, body)).status]).toEqual([path, status]);
    // The reset has ended the delay.
    expect((await delayed).status).toBe(503);
    await api.close();
  });
});
