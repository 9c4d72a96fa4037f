import { spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type Api, startReference } from "../support/harness.ts";
import { startReceiver } from "../support/receivers/flawed/flawed-receiver.ts";
import { createTempFolder, removeTempFolders, runCommand } from "../support/run-understudy.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const SECRET = "whsec_9b1d4f2c7a60e358";
afterAll(removeTempFolders);

describe("webhook commands", () => {
  let api: Api;
  beforeAll(async () => {
    api = await startReference();
  });
  afterAll(() => api.close());
  const run = (...args: string[]) => runCommand([...args, "--url", api.url]);
  const post = async (path: string, body: object, headers = {}) => {
    const answer = await fetch(api.url + path, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
    return (await answer.json()) as { url: string };
  };

  it("list retries with clock pending, and show their answers with clock advance [interfaces 2]", async () => {
    const { url } = await post("/_control/sandboxes/default/receivers", { answers: [500, "reset", 200] });
    const key = { "api-key": "ak_adaOwnerAcme000000000000000000000000000" };
    await post("/webhooks", { url, events: ["user.created"] }, key);
    expect((await run("trigger", "user.created")).stdout).toContain("500");
    const pending = JSON.parse((await run("clock", "pending", "--json")).stdout);
    const [retry] = pending.filter(({ kind }: { kind: string }) => kind === "webhook.retry");
    expect(retry.due_at).toBe("2026-03-15T12:01:00.000Z");
    expect((await run("clock", "pending")).stdout).toMatch(new RegExp(`webhook\\.retry +${retry.subject}`));
    const { ran } = JSON.parse((await run("clock", "advance", "1m", "--json")).stdout);
    expect(ran).toContainEqual({
      at: "2026-03-15T12:01:00.000Z",
      kind: "webhook.retry",
      subject: retry.subject,
      response_code: 0,
      why: expect.stringMatching(/^no answer: /),
    });
    const { stdout } = await run("clock", "advance", "5m");
    expect(stdout).toMatch(/ran at\s+kind\s+subject\s+answer/);
    expect(stdout).toMatch(new RegExp(`2026-03-15T12:06:00.000Z  webhook.retry\\s+${retry.subject}\\s+200`));
  });
});

describe("wrong usage of listen and receiver-test", () => {
  it.each([
    { args: ["listen", "--port", "0", "--secret", ""], says: "--secret is empty" },
    { args: ["listen", "--port", "0", "--answer"], says: "--answer needs a value\n" },
    { args: ["listen", "--port", "0", "--host", "192.0.2.1"], says: "not an address of this machine" },
    {
      args: ["receiver-test", "http://127.0.0.1:1/", "--secret", "x", "--timeout", "9999999"],
      says: "86400",
    },
    { args: ["receiver-test", "http://127.0.0.1:1/", "--secret", "x", "--ca", "none.pem"], says: "none.pem" },
    {
      args: ["receiver-test", "http://127.0.0.1:1/", "--secret", "x", "--ca", "."],
      says: "understudy: cannot use .: it is a folder",
    },
  ])("is exit 2 with one message for listen $args [interfaces 2]", async ({ args, says }) => {
    const { code, stderr } = await runCommand(args);
    expect(stderr).toContain(says);
    expect(stderr).not.toContain("unexpected");
    expect(code).toBe(2);
  });

  it.each([
    { args: ["--only", "duplicat"], says: 'did you mean "duplicate"' },
    { args: ["--only", "zz"], says: 'no check "zz"; take one of valid-accepted, ' },
    { args: ["--only", "duplicate", "--skip", "duplicate"], says: "no check is left to run" },
    { args: ["--require-probe"], says: "a probe is required" },
    { args: ["--data", "user_id"], says: "--data takes FIELD=VALUE" },
    { args: ["--fail-on", "never"], says: "critical" },
  ])("is exit 2 with one message for receiver-test $args [interfaces 14]", async ({ args, says }) => {
    const { code, stderr } = await runCommand([
      ...["receiver-test", "http://127.0.0.1:1/", "--secret", "x"],
      ...args,
    ]);
    expect(stderr).toContain(says);
    expect(code).toBe(2);
  });

  it("receiver-test runs the selected checks, and fails on those of --fail-on [interfaces 14]", async () => {
    const { url, close } = await startReceiver(SECRET, { get: () => [500] });
    const test = (...args: string[]) =>
      runCommand(["receiver-test", url, "--secret", SECRET, "--only", "method-post-only,body-utf8", ...args]);
    const listening = process.listenerCount("SIGINT");
    const strict = await test("--json");
    const lenient = await test("--fail-on", "major", "--data", "user_id=usr_known");
    await close();
    expect(JSON.parse(strict.stdout).checks.map(({ id }: { id: string }) => id)).toEqual([
      "valid-accepted",
      "body-utf8",
      "method-post-only",
    ]);
    expect([strict.code, lenient.code]).toEqual([1, 0]);
    expect(process.listenerCount("SIGINT")).toBe(listening);
    expect(lenient.stdout).toContain("Failures below major don't fail the receiver.");
  });

  it("receiver-test prints each check once, and nothing else [interfaces 2]", async () => {
    const { url, probe, close } = await startReceiver(SECRET);
    const folder = createTempFolder();
    const graded = await runCommand(
      ["receiver-test", url, "--secret", SECRET, "--probe", probe, "--report", "html=r.html,junit=r.xml"],
      { cwd: folder },
    );
    await close();
    expect(graded.code).toBe(0);
    expect(graded.stdout).toMatch(/^PASS/m);
    // Progress belongs to terminals; each check is said once.
    expect(graded.stderr).toBe("");
    expect(graded.stdout.match(/\[valid-accepted, critical\]/g)).toHaveLength(1);
  });
});

describe("signature explain", () => {
  const file = join(createTempFolder(), "delivery.json");
  const text = '{"event":"user.created","delivery_id":"del_1"}';
  writeFileSync(file, text);
  const explain = (mine: string, ...more: string[]) =>
    runCommand(["signature", "explain", "--secret", SECRET, "--body", file, "--mine", mine, ...more]);
  const signBytes = (key: string, bytes = text) =>
    `sha256=${createHmac("sha256", key).update(bytes).digest("hex")}`;

  it("names the inputs of the receiver's own digest, and what to change [interfaces 14]", async () => {
    const { code, stdout } = await explain(signBytes(SECRET.slice(6)));
    expect(code).toBe(1);
    expect(stdout).toContain("the secret without its whsec_ prefix");
    expect(stdout).toContain("whsec_ included");
    expect(stdout).toContain(signBytes(SECRET));
  });

  it("recognizes a timestamp that was joined to the body [interfaces 14]", async () => {
    const { stdout } = await explain(
      signBytes(SECRET, `1700000000.${text}`),
      "--timestamp",
      "1700000000",
      "--json",
    );
    expect(JSON.parse(stdout)).toMatchObject({
      code: "body-changed",
      reason: expect.stringContaining("the timestamp given, a dot and the body"),
    });
  });

  it("is exit 0 for a valid digest, and exit 2 for a missing file [interfaces 14]", async () => {
    expect((await explain(signBytes(SECRET))).code).toBe(0);
    const missing = ["signature", "explain", "--secret", "x", "--body", "none.json", "--mine", "y"];
    const { code, stderr } = await runCommand(missing);
    expect(code).toBe(2);
    expect(stderr).toContain("none.json");
    expect((await runCommand(["signature"])).code).toBe(2);
  });

  it("reads a body from standard input that comes in pieces [interfaces 14]", async () => {
    // The body is far larger than the buffer of a pipe.
    const body = "x".repeat(4 * 1024 * 1024);
    const words = [
      "signature",
      "explain",
      "--secret",
      SECRET,
      "--body",
      "-",
      "--mine",
      signBytes(SECRET, body),
    ];
    const child = spawn(process.execPath, ["bin/understudy.js", ...words], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    child.stdin.on("error", () => {});
    child.stdin.end(body);
    const [code] = await once(child, "exit");
    expect(code).toBe(0);
  });
});
