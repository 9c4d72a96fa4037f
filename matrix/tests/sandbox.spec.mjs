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
});

test("skipped in its body", async ({ sandbox }) => {
  await sandbox.faults.add({ match: { operation: "models.list" }, effect: { error: "RATE_LIMIT_EXCEEDED" } });
  test.skip(true, "not today");
});
