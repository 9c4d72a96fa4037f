import { createServer } from "node:http";
import { expect, test } from "understudy-sandbox/playwright";

const application = createServer((_request, response) => response.end("the application"));
test.beforeAll(() => new Promise((resolve) => application.listen(0, "127.0.0.1", resolve)));
test.afterAll(() => application.close());

test("a fresh sandbox with a fault and a matcher", async ({ page, sandbox }) => {
  await sandbox.faults.add({
    match: { operation: "models.list" },
    times: 1,
    effect: { error: "RATE_LIMIT_EXCEEDED" },
  });
  await page.goto(`http://127.0.0.1:${application.address().port}/`);
  const call = { url: `${sandbox.url}/v1/models`, headers: { "api-key": sandbox.credentials.usr_dan } };
  const status = await page.evaluate(
    async ({ url, headers }) => (await fetch(url, { headers })).status,
    call,
  );
  expect(status).toBe(429);
  await expect(sandbox).toHaveReceived({ operation: "models.list" }, { times: 1 });
  const client = () =>
    page.evaluate(async ({ url, headers }) => {
      for (const _attempt of [1, 2]) if ((await fetch(url, { headers })).ok) return;
    }, call);
  const report = await sandbox.gradeClient(client, { only: ["no-retry-of-403"] });
  expect(report.failures).toEqual([
    "no-retry-of-403 (error): it sent GET /v1/models 2 times, 1 without the refusal",
  ]);
});

test("skipped in its body", async ({ sandbox }) => {
  await sandbox.faults.add({ match: { operation: "models.list" }, effect: { error: "RATE_LIMIT_EXCEEDED" } });
  test.skip(true, "not today");
});
