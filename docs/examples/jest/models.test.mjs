// NODE_OPTIONS=--experimental-vm-modules npx jest
import { testSandboxes } from "understudy-sandbox";

const sandboxes = testSandboxes({ clock: { mode: "frozen", now: "2026-03-15T12:00:00Z" } });
afterAll(() => sandboxes.close());

const models = ({ url, credentials }) =>
  fetch(`${url}/v1/models`, { headers: { "api-key": credentials.usr_dan } });

test(
  "a busy service is asked again",
  sandboxes.with(async (sandbox) => {
    await sandbox.faults.add({
      match: { operation: "models.list" },
      times: 1,
      effect: { error: "RATE_LIMIT_EXCEEDED" },
    });
    expect((await models(sandbox)).status).toBe(429);
    expect((await models(sandbox)).status).toBe(200);
    expect(await sandbox.journal.verify({ match: { operation: "models.list" }, count: 2 })).toMatchObject({
      ok: true,
    });
  }),
);
