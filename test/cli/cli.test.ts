import { execSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { users } from "../../src/engine/resources/users/schema.ts";
import { type Api, KEYS, startReference } from "../support/harness.ts";
import { createTempFolder, removeTempFolders, runCommand, startCommand } from "../support/run-understudy.ts";

afterAll(removeTempFolders);

describe("a command against a running server", () => {
  let api: Api;
  beforeAll(async () => {
    api = await startReference();
  });
  afterAll(() => api.close());
  const run = (...args: string[]) => runCommand([...args, "--url", api.url]);
  const runJson = async (...args: string[]) => JSON.parse((await run(...args, "--json")).stdout);

  it("changes it by status, reset, clock and snapshot [interfaces 2]", async () => {
    expect((await run("status")).stdout).toContain("fixture reference");
    expect(await runJson("clock", "show")).toMatchObject({ mode: "frozen", now: "2026-03-15T12:00:00.000Z" });
    expect((await run("snapshot", "save", "before")).code).toBe(0);
    const { now, ran } = await runJson("clock", "advance", "5m");
    expect(now).toBe("2026-03-15T12:05:00.000Z");
    expect(ran.length).toBeGreaterThan(0);
    expect(await runJson("clock", "set", "2026-03-15T13:00:00Z")).toMatchObject({
      now: "2026-03-15T13:00:00.000Z",
    });
    expect((await run("clock", "set", "2026-03-15T12:30:00Z")).code).toBe(2);
    expect((await runJson("snapshot", "list")).total).toBe(1);
    expect(Object.keys(await runJson("snapshot", "diff", "before"))).toEqual(["added", "removed", "changed"]);
    const file = join(createTempFolder(), "before.json");
    expect((await run("snapshot", "export", "before", file)).code).toBe(0);
    expect((await run("snapshot", "import", "copy", file)).code).toBe(0);
    expect((await run("snapshot", "restore", "copy")).code).toBe(0);
    expect(await runJson("clock", "show")).toMatchObject({ now: "2026-03-15T12:00:00.000Z" });
    expect((await run("clock", "run", "x60")).stdout).toContain("scaled x60");
    expect(await runJson("clock", "freeze")).toMatchObject({ mode: "frozen" });
    expect(await runJson("reset")).toMatchObject({ name: "default" });
    const world = join(createTempFolder(), "world.yaml");
    writeFileSync(world, "extends: reference\norganizations: [{ id: org_of_a_file }]\n");
    expect((await run("reset", "--fixture", world)).stdout).toContain(`back to ${world}, seed 1`);
    expect((await runJson("status")).sandbox.counts.organizations).toBe(5);
    writeFileSync(world, "extends: reference\norganisations: []\n");
    expect((await run("reset", "--fixture", world)).stderr).toMatch(/world\.yaml:2:1: .*organizations/);
    expect(await runJson("reset", "--fixture", "reference")).toMatchObject({ counts: { organizations: 4 } });
    expect((await run("snapshot", "restore", "none")).code).toBe(1);
  });

  it("links its console in the coverage of an address without scheme, or with a path [interfaces 2]", async () => {
    const html = join(createTempFolder(), "coverage.html");
    const { port, host } = new URL(api.url);
    for (const [address, origin] of [
      [port, `http://localhost:${port}`],
      [`${host}/_console`, api.url],
    ] as const) {
      const { code, stderr } = await runCommand(["coverage", "--url", address, "--html", html]);
      expect([code, stderr]).toEqual([0, ""]);
      expect(readFileSync(html, "utf8")).toContain(`"${origin}/_console/s/default/`);
    }
  });

  it("controls it by scenario list, on and off, coverage and trigger [interfaces 2]", async () => {
    expect((await run("scenario", "on", "threads-delete-forbidden")).stdout).toContain(
      "threads-delete-forbidden",
    );
    const { items } = await runJson("scenario", "list");
    expect(items.find((one: { name: string }) => one.name === "threads-delete-forbidden").active).toBe(true);
    expect((await run("scenario", "off", "threads-delete-forbidden")).code).toBe(0);
    expect((await run("scenario", "off", "threads-delete-forbidden")).code).toBe(2);
    expect((await run("scenario", "on", "nonsense")).code).toBeGreaterThan(0);
    const html = join(createTempFolder(), "coverage.html");
    expect((await run("coverage", "--fail-under", "0", "--html", html)).code).toBe(0);
    expect(readFileSync(html, "utf8")).toContain("<!doctype html>");
    const below = await run("coverage", "--fail-under", "99", "--json");
    expect([below.code, JSON.parse(below.stderr)]).toEqual([
      1,
      { error: expect.stringMatching(/percent, below 99$/) },
    ]);
    expect(JSON.parse(below.stdout).percent).toBeLessThan(99);
    expect((await run("coverage", "--fail-under", "101")).code).toBe(2);
    const { deliveries } = await runJson(
      "trigger",
      "user.created",
      "--for",
      "usr_dan",
      "--set",
      "email=zed@acme.test",
    );
    expect(Array.isArray(deliveries)).toBe(true);
    expect((await run("trigger", "user.created", "--set", "nonsense")).code).toBe(2);
  });

  it("leaves scenarios in their order if one that is on is switched on again [interfaces 3]", async () => {
    const names = ["threads-delete-forbidden", "models-list-rate-limited"];
    for (const name of names) await run("scenario", "on", name);
    expect(await runJson("scenario", "on", names[0]!)).toEqual({ active: names });
    for (const name of names) await run("scenario", "off", name);
  });

  it("explains which rule decides, and what each rule would do [interfaces 11]", async () => {
    const { code, stdout } = await run(
      "explain",
      "threads.delete",
      "--param",
      "thread_id=thread_long",
      "--as",
      "usr_cleo",
    );
    expect(code).toBe(0);
    expect(stdout).toContain("threads.delete: 403 INSUFFICIENT_PERMISSIONS, decided by: access");
    expect(stdout).toMatch(/^access +decides +usr_cleo is not allowed to do this: needs to own the thread/m);
    expect(stdout).toMatch(/^spending +not reached$/m);
    await run("scenario", "on", "models-list-rate-limited");
    const explanation = await runJson("explain", "GET", "/v1/models", "--header", `api-key=${KEYS.dan}`);
    expect(explanation).toMatchObject({ status: 429, principal: "usr_dan", rules: [{ triggers: true }] });
    expect(await runJson("explain", "GET /v1/models", "--header", `api-key=${KEYS.dan}`)).toEqual(
      explanation,
    );
    await run("scenario", "off", "models-list-rate-limited");
    const spaced = "/v1/assistants/asst_helper/history?limit=1 0";
    const refused = await runJson("explain", "GET", spaced, "--as", "usr_ada");
    expect(refused).toMatchObject({ status: 422 });
    expect(await runJson("explain", `GET ${spaced}`, "--as", "usr_ada")).toEqual(refused);
    const wrong = await run("explain", "models.lst");
    expect([wrong.code, wrong.stderr]).toEqual([
      2,
      'understudy: operation "models.lst" is not an operation of the emulated API. Did you mean "models.list"?\n',
    ]);
    expect((await run("explain", "GET")).stderr).toContain(
      "explain GET needs a path too, such as: understudy explain GET /v1/models",
    );
    const cut = await run("explain", "model_responses.create", "--body", "{");
    expect([cut.code, cut.stderr]).toEqual([2, expect.stringContaining("--body is not JSON: ")]);
    expect((await run("explain", "models.list", "--query", "nonsense")).stderr).toContain(
      '--query takes name=value, not "nonsense"',
    );
  });

  it.each([
    [["user.creatd"], 'event "user.creatd" is not an event of the service. Did you mean "user.created"?'],
    [
      ["--for", "usr_dn"],
      '--for must be the id of one of the users of this sandbox, not "usr_dn". Did you mean "usr_dan"?',
    ],
    [["--set", "emial=x"], "--set emial is not a field of user.created, whose data has"],
    [["--set", "emial=x"], 'Did you mean "email"?'],
  ])("refuses trigger %j as wrong usage and names the wrong word [interfaces 2]", async (args, message) => {
    const words = args[0]!.startsWith("--") ? ["user.created", ...args] : args;
    const { code, stdout, stderr } = await run("trigger", ...words);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(`understudy: ${message.startsWith("Did") ? "--set" : message}`);
    expect(stderr).toContain(message);
  });

  it("is exit 1 for an unknown sandbox and an unreachable server [interfaces 2]", async () => {
    const unknown = await run("status", "--sandbox", "nowhere");
    expect(unknown.code).toBe(1);
    expect(unknown.stderr).toContain("nowhere");
    const unreachable = await runCommand(["status", "--url", "http://127.0.0.1:9", "--json"]);
    expect(unreachable.code).toBe(1);
    expect(JSON.parse(unreachable.stderr)).toHaveProperty("error");
  });
});

describe("a command without a server", () => {
  it("has help with an example [interfaces 2]", async () => {
    const { stdout } = await runCommand(["--help"]);
    const commands = [...stdout.matchAll(/^ {2}understudy (\S+)/gm)].map(([, name]) => name!);
    const named =
      "start status reset snapshot clock scenario fixture trigger listen receiver-test suite replay coverage openapi fidelity";
    expect(commands).toEqual(expect.arrayContaining(named.split(" ")));
    const helps = await Promise.all(commands.map((name) => runCommand([name, "--help"])));
    for (const [i, help] of helps.entries()) {
      expect([commands[i], help.code]).toEqual([commands[i], 0]);
      expect(help.stdout, commands[i]).toContain("Examples:");
    }
  });

  it("refuses a method without a path before it calls a server [interfaces 11]", async () => {
    const { code, stderr } = await runCommand(["explain", "GET", "--url", "http://127.0.0.1:9"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("explain GET needs a path too")]);
  });

  it("prints the control API's answer for openapi and fidelity, and a closed pipe is not a failure [interfaces 2]", async () => {
    const document = JSON.parse((await runCommand(["openapi"])).stdout);
    expect(document.openapi).toMatch(/^3\.1/);
    expect(JSON.parse((await runCommand(["fidelity", "--json"])).stdout)).toBeTypeOf("object");
    const piped = `"${process.execPath}" bin/understudy.js openapi | head -c 10; echo " $\{PIPESTATUS[0]}"`;
    expect(execSync(piped, { encoding: "utf8", shell: "/bin/bash" })).toMatch(/ 0\n$/);
  });

  it("names file, line and column for scenario check and fixture check, and is exit 1 [interfaces 2]", async () => {
    const folder = createTempFolder();
    writeFileSync(
      join(folder, "wrong.yaml"),
      "name: wrong\nrules:\n  - match: { operation: threads.delet }\n    effect: { error: RATE_LIMIT_EXCEEDED }\n",
    );
    writeFileSync(join(folder, "right.yaml"), "name: right\nrules: []\n");
    const both = await runCommand(["scenario", "check", "*.yaml"], { cwd: folder });
    expect(both.code).toBe(1);
    expect(both.stdout).toContain("wrong.yaml:3:");
    expect(both.stdout).toContain('did you mean "threads.delete"');
    expect((await runCommand(["scenario", "check", "right.yaml"], { cwd: folder })).code).toBe(0);
    expect((await runCommand(["scenario", "check", "none.yaml"], { cwd: folder })).code).toBe(2);
    expect((await runCommand(["fixture", "check", "reference"])).code).toBe(0);
    writeFileSync(join(folder, "world.yaml"), "extends: reference\nusers: 3x\n");
    const fixture = await runCommand(["fixture", "check", "./world.yaml", "--json"], { cwd: folder });
    expect(fixture.code).toBe(1);
    expect(JSON.parse(fixture.stdout)).toMatchObject({ ok: false, items: [{ problems: [{ line: 2 }] }] });
  });

  it("writes a file with fixture generate that start accepts, and does not overwrite one [interfaces 5]", async () => {
    const folder = createTempFolder();
    const generate = ["fixture", "generate", "--count", "users=4", "--out", "my team.yaml"];
    const { code, stdout } = await runCommand(generate, { cwd: folder });
    expect([code, stdout]).toEqual([0, expect.stringContaining("--fixture 'my team.yaml'.")]);
    expect((await runCommand(generate, { cwd: folder })).code).toBe(2);
    expect((await runCommand([...generate, "--force"], { cwd: folder })).code).toBe(0);
    expect((await runCommand(["fixture", "generate", "--count", "usres=4"])).code).toBe(2);
    const { understudy, close } = await startReference({ fixture: join(folder, "my team.yaml") });
    expect([...understudy.sandboxes.get("default")!.world.read().all(users)]).toHaveLength(4);
    await close();
    expect(JSON.parse((await runCommand(["fixture", "schema"])).stdout)).toHaveProperty("definitions");
  });

  it("answers with a list of statuses in order and checks signatures with listen [interfaces 2]", async () => {
    const secret = "whsec_listenerSecret";
    const running = startCommand(["listen", "--port", "0", "--answer", "500,204", "--secret", secret]);
    await expect.poll(() => running.output().stdout).toMatch(/Listening at (\S+),/);
    const url = /Listening at (\S+),/.exec(running.output().stdout)![1]!;
    const send = () =>
      fetch(`${url}/any/path`, {
        method: "POST",
        body: "{}",
        headers: { "x-service-event": "user.created" },
      });
    expect((await send()).status).toBe(500);
    expect((await send()).status).toBe(204);
    expect((await send()).status).toBe(204);
    await expect.poll(() => running.output().stdout).toContain("MISSING");
    running.child.kill("SIGINT");
    expect((await running.finished).code).toBe(0);
    const wrong = await runCommand(["listen", "--answer", "999"]);
    expect(wrong.code).toBe(2);
    expect((await runCommand(["listen", "--port", "0", "--answer", ","])).code).toBe(2);
  });

  it("accepts only well-formed reports and secrets for receiver-test [interfaces 2]", async () => {
    const wrong = await runCommand([
      "receiver-test",
      "http://127.0.0.1:9",
      "--secret",
      "whsec_x",
      "--report",
      "pdf=x",
    ]);
    expect(wrong.code).toBe(2);
    expect(existsSync("pdf=x")).toBe(false);
    expect((await runCommand(["receiver-test", "http://127.0.0.1:9"])).code).toBe(2);
  });
});
