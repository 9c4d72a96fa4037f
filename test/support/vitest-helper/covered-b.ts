import { expect, test } from "../../../src/client/vitest.ts";

test("lists the models in another worker", async ({ sandbox }) => {
  const headers = { "api-key": sandbox.credentials["usr_dan"]! };
  expect((await fetch(`${sandbox.url}/v1/models`, { headers })).status).toBe(200);
});
