import assert from "node:assert/strict";
import { after, test } from "node:test";
import { testSandboxes } from "understudy-sandbox";

const sandboxes = testSandboxes({ seed: 7 });
after(() => sandboxes.close());

test(
  "a fresh sandbox with a fault",
  sandboxes.with(async (sandbox, t) => {
    await sandbox.faults.add({
      match: { operation: "models.list" },
      times: 1,
      effect: { error: "RATE_LIMIT_EXCEEDED" },
    });
    const answer = await fetch(`${sandbox.url}/v1/models`, {
      headers: { "api-key": sandbox.credentials.usr_dan },
    });
    assert.equal(answer.status, 429);
    t.diagnostic(`answered ${answer.status}`);
  }),
);

test(
  "mocked timers and a mocked fetch",
  sandboxes.with(async (sandbox, t) => {
    t.mock.timers.enable();
    const fetched = t.mock.method(globalThis, "fetch");
    await sandbox.clock.advance("1h");
    assert.equal(fetched.mock.callCount(), 0);
  }),
);

test(
  "skipped in its body",
  sandboxes.with(async (sandbox, t) => {
    await sandbox.faults.add({
      match: { operation: "models.list" },
      effect: { error: "RATE_LIMIT_EXCEEDED" },
    });
    t.skip("not today");
  }),
);
