import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { runCommand } from "../support/run-understudy.ts";

/** More than about 120,000 elements as the arguments of one call overflow the stack. */
const MANY = 200_000;
const NOW = "2026-03-15T12:00:00.000Z";

const ran = Array.from({ length: MANY }, (_, i) => ({ at: NOW, kind: "file.step", subject: `file_${i}` }));
const deliveries = ran.map(({ subject }) => ({
  ...{ delivery_id: "del_a", webhook_id: subject, status: "success", response_code: 200 },
}));
const retry = { due_at: NOW, kind: "webhook.retry", subject: "del_a" };

/**
 * A server with MANY timers that run at each advance, and MANY webhooks. @param pending the pending timers of each call
 */
async function startBusyServer(pending: object[][]): Promise<string> {
  const sandbox = "/_control/sandboxes/default";
  const answers: Record<string, () => unknown> = {
    "GET /_control/health": () => ({ status: "ok", version: "1.0.0" }),
    [`GET ${sandbox}`]: () => ({ name: "default", clock: { now: NOW } }),
    [`GET ${sandbox}/state/api_keys`]: () => ({ items: [] }),
    [`GET ${sandbox}/clock`]: () => ({ now: NOW, mode: "frozen", rate: 0 }),
    [`GET ${sandbox}/clock/pending`]: () => pending.shift() ?? [],
    [`POST ${sandbox}/clock/advance`]: () => ({ now: NOW, ran }),
    [`POST ${sandbox}/events`]: () => ({ deliveries }),
    [`GET ${sandbox}/deliveries`]: () => ({ items: [], total: 0 }),
  };
  const server = createServer(({ method, url = "" }, response) => {
    const answer = answers[`${method} ${url.split("?")[0]}`];
    response.writeHead(answer === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(answer?.() ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it.each([
  [["clock", "advance", "1h"], [], MANY],
  [["clock", "advance", "--until-delivered"], [[retry], [retry]], 2 * MANY],
  [["clock", "pending"], [ran.map(({ at: due_at, ...timer }) => ({ due_at, ...timer }))], MANY],
  [["trigger", "user.created"], [], MANY],
])("%j lists every item of a long list [interfaces 2]", async (words, pending, listed) => {
  const url = await startBusyServer(pending);
  const { code, stdout, stderr } = await runCommand([...words, "--url", url]);
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout.match(/file_\d+/g)).toHaveLength(listed);
});
