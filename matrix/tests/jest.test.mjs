import { jest } from "@jest/globals";
import { testSandboxes } from "understudy-sandbox";

const sandboxes = testSandboxes({ seed: 7 });
afterAll(() => sandboxes.close());

test(
  "a fresh sandbox with a fault",
  sandboxes.with(async (sandbox) => {
    await sandbox.faults.add({
      match: { operation: "models.list" },
      times: 1,
      effect: { error: "RATE_LIMIT_EXCEEDED" },
    });
    const answer = await fetch(`${sandbox.url}/v1/models`, {
      headers: { "api-key": sandbox.credentials.usr_dan },
    });
    expect(answer.status).toBe(429);
  }),
);

test(
  "fake timers and a stubbed fetch",
  sandboxes.with(async (sandbox) => {
    jest.useFakeTimers({ doNotFake: ["nextTick", "queueMicrotask"] });
    const fetched = jest.spyOn(globalThis, "fetch");
    await sandbox.clock.advance("1h");
    expect(fetched).not.toHaveBeenCalled();
  }),
);
