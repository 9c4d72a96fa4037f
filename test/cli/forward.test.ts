import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { waitUntil } from "../support/eventually.ts";
import { type Api, startReference } from "../support/harness.ts";
import { type Running, removeTempFolders, runCommand, startCommand } from "../support/run-understudy.ts";

const SECRET = "whsec_theOneThatMyReceiverHas";
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});
afterAll(removeTempFolders);

/** A user's application, which a webhook of a shared server may not call. */
async function startApplication(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanups.push(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook`;
}

describe("listen --forward-to", () => {
  const token = "token-of-the-whole-team";
  const env = { UNDERSTUDY_TOKEN: token };
  let api: Api;
  beforeAll(async () => {
    api = await startReference({ shared: { token } });
  });
  afterAll(() => api.close());

  const run = (...args: string[]) => runCommand([...args, "--url", api.url], { env });

  async function listBelow(path: string): Promise<unknown> {
    const url = `${api.url}/_control/sandboxes/default${path}`;
    return (await fetch(url, { headers: { authorization: `Bearer ${token}` } })).json();
  }

  async function forward(to: string, ...args: string[]): Promise<Running> {
    const url = api.url;
    const running = startCommand(["listen", "--forward-to", to, "--url", url, ...args], { env });
    cleanups.push(() => running.child.kill("SIGKILL"));
    await waitUntil(() => running.output().stdout.includes(SECRET));
    return running;
  }

  it("lets a receiver on this machine answer a remote server, whose retries follow from the answer [interfaces 11]", async () => {
    const heard: { path?: string | undefined; signature: unknown; bytes: number }[] = [];
    const to = await startApplication(async (request, response) => {
      let bytes = 0;
      for await (const chunk of request) bytes += (chunk as Buffer).length;
      heard.push({ path: request.url, signature: request.headers["x-service-signature"], bytes });
      response.writeHead(heard.length === 1 ? 500 : 202).end();
    });
    const { child, output, finished } = await forward(to, "--secret", SECRET, "--events", "user.created");
    const triggered = await run("trigger", "user.created", "--json");
    const [{ delivery_id, response_code, webhook_id }] = JSON.parse(triggered.stdout).deliveries;
    expect(response_code).toBe(500);
    expect(output().stdout).toContain(`signed with ${SECRET} (webhook ${webhook_id})`);
    const { ran } = JSON.parse((await run("clock", "advance", "1m", "--json")).stdout);
    expect(ran).toContainEqual(
      expect.objectContaining({ kind: "webhook.retry", subject: delivery_id, response_code: 202 }),
    );
    expect(heard).toEqual([
      { path: "/webhook", signature: expect.stringMatching(/^sha256=/), bytes: heard[1]?.bytes },
      { path: "/webhook", signature: heard[0]?.signature, bytes: expect.any(Number) },
    ]);
    await waitUntil(() => output().stdout.includes("attempt 2"));
    const lines = output()
      .stdout.split("\n")
      .filter((line) => line.includes(delivery_id));
    expect(lines.filter((line) => line.includes("attempt"))).toEqual([
      expect.stringMatching(/user\.created .* attempt 1 {2}signature VALID {2}-> 500 in \d+ ms$/),
      expect.stringMatching(/user\.created .* attempt 2 {2}signature VALID {2}-> 202 in \d+ ms$/),
    ]);
    child.kill("SIGINT");
    expect((await finished).code).toBe(0);
    expect(await listBelow(`/state/webhooks/${webhook_id}`)).toMatchObject({ status: 404 });
  });

  it("does not count an application that is down as an answer, and uses the same secret after a reset [interfaces 11]", async () => {
    const to = await startApplication((_request, response) => response.end());
    const { child, output, finished } = await forward(to, "--secret", SECRET, "--json");
    await run("reset");
    await waitUntil(() => output().stdout.split(SECRET).length === 3);
    expect(output().stderr.match(/the sandbox was reset, or its server cannot be reached/g)).toHaveLength(1);
    await cleanups.shift()!();
    const { stdout } = await run("trigger", "user.created", "--json");
    const [{ response_code }] = JSON.parse(stdout).deliveries;
    expect(response_code).toBe(0);
    await waitUntil(() => output().stdout.includes("no answer: connect ECONNREFUSED"));
    child.kill("SIGTERM");
    expect((await finished).code).toBe(0);
  });

  it.each([
    { args: ["--forward-to", "ftp://127.0.0.1/x"], says: "--forward-to must be an http or https URL" },
    { args: ["--forward-to", "http://127.0.0.1:1/", "--port", "0"], says: "mutually exclusive" },
    { args: ["--events", "user.created"], says: "understudy: --events needs --forward-to\n" },
    {
      args: ["--forward-to", "http://127.0.0.1:1/", "--events", "user.creatd"],
      says: 'Did you mean "user.created"?',
    },
    { args: ["--forward-to", "http://127.0.0.1:1/", "--organization", "org_nobody"], says: "org_nobody" },
    { args: ["--forward-to", "http://127.0.0.1:1/", "--secret", "mine"], says: "secret" },
  ])(
    "is wrong usage with one message for $args, and leaves nothing behind [interfaces 11]",
    async ({ args, says }) => {
      const listening = process.listenerCount("SIGTERM");
      const { code, stderr } = await run("listen", ...args);
      expect(process.listenerCount("SIGTERM")).toBe(listening);
      expect(stderr).toContain(says);
      expect(stderr).not.toContain("unexpected");
      expect(code).toBe(2);
      expect(await listBelow("/receivers")).toEqual({ items: [], total: 0 });
    },
  );
});
