import { execSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { KEYS } from "../support/harness.ts";
import {
  createTempFolder,
  type RunningServer,
  removeTempFolders,
  runCommand,
  startCommand,
  startServer,
} from "../support/run-understudy.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const servers: RunningServer[] = [];

async function startInTest(args: readonly string[] = [], place?: Parameters<typeof startServer>[1]) {
  const server = await startServer(args, place);
  servers.push(server);
  return server;
}

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop("SIGKILL")));
});
afterAll(removeTempFolders);

/** Finds a port that is free at the moment. */
async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
const fetchBody = async (url: string): Promise<any> => (await fetch(url)).json();
const fetchApi = (url: string, path: string, init: RequestInit = {}) =>
  fetch(url + path, { ...init, headers: { "api-key": KEYS.ada, ...init.headers } });

/** The files that a process loaded, read from its coverage report in this folder. */
function listLoadedFiles(coverage: string): string[] {
  const [report] = readdirSync(coverage);
  const { result } = JSON.parse(readFileSync(join(coverage, report!), "utf8")) as {
    result: { url: string }[];
  };
  return result.flatMap(({ url }) => (url.startsWith("file:") ? [url] : []));
}

describe("start", () => {
  it("prints addresses, credentials and a curl line that works when pasted [interfaces 2]", async () => {
    const server = await startInTest();
    const { ready } = server;
    expect(ready).toEqual({
      url: ready.url,
      console: `${ready.url}/_console`,
      pid: server.child.pid,
      token: null,
    });
    await expect.poll(() => server.output().stdout).toContain("curl ");
    const { stdout } = server.output();
    expect(stdout).toContain(ready.url);
    expect(stdout).toContain(ready.console);
    expect(stdout).toContain(KEYS.dan);
    const line = stdout.split("\n").find((text) => text.trim().startsWith("curl "))!;
    expect(JSON.parse(execSync(line, { encoding: "utf8" }))).toHaveProperty("organization_limits");
  });

  it("is the command of `understudy` alone, and --json prints the content of the ready file [interfaces 2]", async () => {
    const folder = createTempFolder();
    const running = startCommand(["--port", "0", "--json"], { cwd: folder });
    await expect.poll(() => running.output().stdout).toMatch(/\n$/);
    const ready = JSON.parse(running.output().stdout);
    expect((await fetch(`${ready.url}/_control/health`)).status).toBe(200);
    running.child.kill("SIGINT");
    expect(await running.finished).toMatchObject({ code: 0 });
  });

  it("takes fixture, seed, clock and scenario, and refuses faults of requests with --no-overrides [interfaces 2, 3]", async () => {
    const folder = createTempFolder();
    writeFileSync(
      join(folder, "mine.yaml"),
      "extends: reference\nthreads: { thread_mine: { owner: usr_dan, organization_id: org_acme } }\n",
    );
    const { ready } = await startInTest(
      [
        ...["--fixture", "./mine.yaml", "--seed", "7", "--clock", "frozen@2026-03-15T12:00:00Z"],
        ...["--scenario", "threads-delete-forbidden", "--no-overrides"],
      ],
      { cwd: folder },
    );
    const sandbox = await fetchBody(`${ready.url}/_control/sandboxes/default`);
    expect(sandbox).toMatchObject({
      seed: 7,
      clock: { mode: "frozen", now: "2026-03-15T12:00:00.000Z" },
      scenarios: ["threads-delete-forbidden"],
    });
    const answer = await fetchApi(ready.url, "/v1/threads/thread_mine", { method: "DELETE" });
    expect(answer.headers.get("x-sandbox-decision")).toMatch(/^fault:threads-delete-forbidden\//);
    const overriding = await fetchApi(ready.url, "/v1/models", { headers: { "X-Sandbox-Fault": "reset" } });
    expect([overriding.status, ((await overriding.json()) as { detail: string }).detail]).toEqual([
      400,
      expect.stringContaining("--no-overrides"),
    ]);
  });

  it.each(["understudy.config.yaml", "understudy.config.yml"])(
    "reads options and settings from %s, and prefers flags [interfaces 2]",
    async (file) => {
      const folder = createTempFolder();
      writeFileSync(
        join(folder, file),
        "seed: 3\nclock: frozen\nsettings:\n  preview: true\n  retry_schedule: [2m]\n",
      );
      const { ready } = await startInTest(["--seed", "5"], { cwd: folder });
      const sandbox = await fetchBody(`${ready.url}/_control/sandboxes/default`);
      expect(sandbox).toMatchObject({
        seed: 5,
        clock: { mode: "frozen" },
        settings: { preview: "on", retry_schedule: ["2m"] },
      });
    },
  );

  it("refuses a configuration that is a link to a missing file [interfaces 2]", async () => {
    const cwd = createTempFolder();
    symlinkSync("gone.yaml", join(cwd, "understudy.config.yaml"));
    const { code, stderr } = await runCommand(["start", "--clock", "never"], { cwd });
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining("the configuration understudy.config.yaml: there is no"),
    ]);
  });

  it("names file, line and column of a mistake in the configuration [interfaces 2]", async () => {
    const folder = createTempFolder();
    const file = join(folder, "team.yaml");
    const say = async (text: string) => {
      writeFileSync(file, text);
      return runCommand(["start", "--port", "0", "--config", "team.yaml"], { cwd: folder });
    };
    const misspelt = await say("seed: 1\nsettings:\n  preveiw: on\n");
    expect(misspelt.code).toBe(2);
    expect(misspelt.stderr).toContain("team.yaml:3:3");
    expect(misspelt.stderr).toContain('did you mean "preview"');
    const stopped = await say("clock: soon\n");
    expect([stopped.code, stopped.stderr]).toEqual([
      2,
      expect.stringContaining("team.yaml:1:8: `clock` takes real, frozen,"),
    ]);
    const unnamed = await say("seed: 1\nallow-host: [http://a.test]\n");
    expect(unnamed.stderr).toContain("team.yaml:2:13: `allow-host`: ");
    const unreadable = await say("settings:\n  retry_schedule: [1m, soon]\n");
    expect(unreadable.code).toBe(2);
    expect(unreadable.stderr).toContain("team.yaml:2:24");
    for (const [text, place] of [
      ["fixture: ./gone.yaml\n", "1:10: `fixture`: there is no file gone.yaml\n"],
      ["fixture: refrence\n", '1:10: `fixture`: there is no fixture "refrence"; '],
      [
        "seed: 1\nscenario:\n  - slow-network\n  - ./gone.yaml\n",
        "4:5: `scenario`: there is no file gone.yaml\n",
      ],
      [
        "scenario: [slow-netwrk]\n",
        '1:12: `scenario`: there is no scenario "slow-netwrk" (did you mean "slow-network"?)',
      ],
      [
        "scenario: [nothing-like-it]\n",
        '1:12: `scenario`: there is no scenario "nothing-like-it"; `understudy scenario list`',
      ],
      ["persist: kept\nfixture: .\n", "2:10: `fixture`: "],
      ["operations: [gone.ts]\n", "1:14: `operations`: there is no file gone.ts\n"],
      ["openapi: [gone.yaml]\n", "1:11: `openapi`: there is no file gone.yaml\n"],
    ] as const) {
      const { code, stderr } = await say(text);
      expect([code, stderr]).toEqual([2, expect.stringContaining(`team.yaml:${place}`)]);
    }
    const given = ["start", "--port", "0", "--config", "team.yaml", "--openapi", "other.yaml"];
    const { stderr } = await runCommand(given, { cwd: folder });
    expect(stderr).toBe("understudy: there is no file other.yaml\n");
    const broken = await say("seed: [1\n");
    expect(broken).toMatchObject({ code: 2, stdout: "" });
    expect(broken.stderr).toMatch(/team\.yaml:\d+:\d+/);
    const missing = await runCommand(["start", "--config", "nowhere.yaml"], { cwd: folder });
    expect(missing).toMatchObject({ code: 2 });
    expect(missing.stderr).toContain("nowhere.yaml");
  });

  // Loading and compiling take most of the time until the first answer (quality 1).
  it("loads nothing that only other commands need [quality 1]", async () => {
    const NODE_V8_COVERAGE = join(createTempFolder(), "coverage");
    const server = await startInTest(["--quiet", "--no-watch"], { env: { NODE_V8_COVERAGE } });
    expect((await fetchApi(server.ready.url, "/v1/models")).status).toBe(200);
    await server.stop();
    const files = listLoadedFiles(NODE_V8_COVERAGE);
    // faker generates names that the fixture omits.
    expect(files.filter((file) => /\/node_modules\/(?!@faker-js\/)/.test(file))).toEqual([]);
    expect(
      files.filter((file) => /chunks\/(run-commands|mcp-server|fleet-node|redis-store)-/.test(file)),
    ).toEqual([]);
    expect(files.length).toBeLessThan(16);
  });

  it("loads few files, like every command, and finds the texts of bundled packages [quality 1]", async () => {
    const NODE_V8_COVERAGE = join(createTempFolder(), "coverage");
    const refused = startCommand(["listen", "--events", "user.created"], { env: { NODE_V8_COVERAGE } });
    expect((await refused.finished).stderr).toContain("understudy: --events needs --forward-to\n");
    const files = listLoadedFiles(NODE_V8_COVERAGE);
    expect(files.filter((file) => file.includes("/node_modules/"))).toEqual([]);
    expect(files.length).toBeLessThan(16);
  });

  it("exits 2 with one message if the port is in use [interfaces 2]", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => taken.once("listening", resolve));
    const { port } = taken.address() as AddressInfo;
    // Runs in its own process to check how that process ends.
    const refused = await startCommand(["start", "--port", String(port)]).finished;
    taken.close();
    expect(refused.code).toBe(2);
    expect(refused.stderr.trim().split("\n")).toEqual([expect.stringContaining(`port ${port} `)]);
  });

  it.each([
    [["start", "--fixture", "refrence"], 'did you mean "reference"'],
    [["start", "--scenario", "threads-delete-forbiden"], 'did you mean "threads-delete-forbidden"'],
    [["start", "--port", "70000"], "--port"],
    [["start", "--port", "1", "--port", "2"], "more than once"],
    [["start", "--host", "0.0.0.0"], "--shared"],
    [["start", "--durable"], "--persist"],
    [["start", "--clock", "soon"], "--clock"],
    [["start", "--clock", "x1000001"], '--clock: "x1000001" is not a rate'],
    [["clock", "run", "x1000001"], "at most x1000000"],
    [["start", "--allow-host", "http://a.test"], '--allow-host: "http://a.test" is not a host name'],
    [["start", "--seed", "x"], "--seed"],
    [["start", "--scenarios", "./none"], "there is no folder"],
    [["start", "--scenarios", process.execPath], "there is no folder"],
    [["start", "--allow-webhook", "10.0.0.0/99"], "10.0.0.0/99"],
    [
      ["start", "--shared", "--allow-webhook", "10.0.0.5"],
      '--allow-webhook takes an address range such as 10.0.0.0/8, not "10.0.0.5"',
    ],
    [["start", "--upstream", "ftp://api.example.test"], "--upstream takes an address"],
    [
      ["start", "--upstream", "http://a.test/x/v1/"],
      "--upstream takes an address without the version: http://a.test/x\n",
    ],
    [["start", "--public-url", "https://a.test/v1"], "without the version: https://a.test\n"],
    [["start", "--upstream", "http://a.test", "--upstream-header", "no colon"], '"Name: value"'],
    [["start", "--upstream-header", "A: b"], "need --upstream URL"],
    [["start", "--shared", "--upstream", "http://a.test"], "--allow-upstream CIDR"],
    [["start", "--upstream", "http://a.test", "--allow-upstream", "10.0.0.0/99"], "--allow-upstream takes"],
    [["start", "--prot", "1"], "did you mean --port"],
    [["start", "--port", "0", "--ready-file", "/dev/null/ready.json"], "/dev/null"],
    [["start", "extra"], "extra"],
    [["start", "--port", "0", "--", "extra"], '"extra" is more than the command takes'],
    [["start", "--", "--port", "0"], "write --port before --"],
    [["scenario", "check", "--", "none.yaml"], "none.yaml"],
    [["status", "--", "extra"], '"extra" is more than the command takes'],
    [
      ["start", "--port", "0", "--persist", "data", "--durable=yes"],
      "--durable takes no value but true or false",
    ],
    [["status", "--json=1"], "--json takes no value but true or false"],
    [["statsu"], 'Did you mean "status"'],
    [["clock"], "needs an action"],
    [["snapshot", "save"], "<name> is missing"],
  ])("exits 2 without a stack trace for wrong usage: %j [interfaces 2]", async (args, message) => {
    const listening = process.listenerCount("SIGTERM");
    const { code, stderr, stdout } = await runCommand(args, { cwd: createTempFolder() });
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(message);
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(process.listenerCount("SIGTERM")).toBe(listening);
  });

  const NODE = ["start", "--shared", "--store", "redis://127.0.0.1:9", "--node-url", "http://127.0.0.1:9"];
  const omitFlag = (flag: string) => NODE.filter((word, i) => word !== flag && NODE[i - 1] !== flag);

  it.each([
    [NODE, "--store redis://127.0.0.1:9: no Redis answers there (ECONNREFUSED); start it,"],
    [omitFlag("--node-url"), "--store needs --node-url"],
    [omitFlag("--store"), "--node-url needs --store"],
    [NODE.filter((word) => word !== "--shared"), "--store needs --shared"],
    [[...NODE, "--persist", "kept"], "exclude each other"],
    [[...omitFlag("--store"), "--store", "127.0.0.1"], "as in redis://10.0.0.9:6379"],
    [[...omitFlag("--node-url"), "--node-url", "http://x/y"], "takes an address without a path"],
    [["start", "--max-sandboxes", "5"], "--max-sandboxes needs --shared"],
    [["start", "--shared", "--max-sandboxes", "0"], "a whole number from 1"],
  ])("exits 2 with one sentence for a fleet that cannot start: %j [interfaces 15]", async (args, message) => {
    const place = { cwd: createTempFolder(), env: { UNDERSTUDY_TOKEN: "a-token-of-a-whole-fleet" } };
    const { code, stderr, stdout } = await runCommand([...args, "--port", "0"], place);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(message);
    expect(stderr.trim().split("\n")).toHaveLength(1);
  });

  it("names the line of a mistake in the fixture, and starts nothing [interfaces 2]", async () => {
    const folder = createTempFolder();
    writeFileSync(join(folder, "bad.yaml"), "extends: reference\nusers:\n  - { id: usr_new, nmae: X }\n");
    const { code, stderr } = await runCommand(["start", "--port", "0", "--fixture", "bad.yaml"], {
      cwd: folder,
    });
    expect(code).toBe(2);
    expect(stderr).toContain("bad.yaml:3:");
  });

  it.each(["SIGTERM", "SIGINT"] as const)(
    "lets an open request finish after %s, then exits 0 [interfaces 2]",
    async (signal) => {
      const server = await startInTest(["--quiet"]);
      const open = fetchApi(server.ready.url, "/v1/models", { headers: { "X-Sandbox-Delay": "600ms" } });
      await expect.poll(async () => (await fetch(`${server.ready.url}/_control/metrics`)).status).toBe(200);
      const ended = server.stop(signal);
      expect((await open).status).toBe(200);
      expect(await ended).toMatchObject({ code: 0, stdout: "", stderr: "" });
    },
  );

  it("continues after kill -9 and a restart with --persist [interfaces 2]", async () => {
    const folder = join(createTempFolder(), "data");
    const first = await startInTest(["--persist", folder, "--durable", "--quiet"]);
    const deleted = await fetchApi(first.ready.url, "/v1/threads/thread_long", { method: "DELETE" });
    expect(deleted.status).toBeLessThan(300);
    await first.stop("SIGKILL");
    const second = await startInTest(["--persist", folder, "--quiet"]);
    const again = await fetchApi(second.ready.url, "/v1/threads/thread_long", { method: "DELETE" });
    expect(again.status).toBe(404);
    expect((await second.stop()).code).toBe(0);
  });

  it("removes uploads that kill -9 left on disk, and none of a running server [interfaces 7]", async () => {
    const place = { env: { TMPDIR: createTempFolder() }, cwd: createTempFolder() };
    const upload = async ({ ready }: RunningServer) => {
      const asked = await fetchApi(ready.url, "/v1/organizations/org_acme/files/upload-url", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ filename: "a.txt", file_size: 10, mime_type: "text/plain" }),
      });
      const { upload_url } = (await asked.json()) as { upload_url: string };
      const headers = { "content-range": "bytes 0-4/10" };
      expect((await fetch(upload_url, { method: "PUT", headers, body: "01234" })).status).toBe(308);
      return upload_url;
    };
    const killed = await startInTest(["--quiet"], place);
    await upload(killed);
    const live = await startInTest(["--quiet"], place);
    const upload_url = await upload(live);
    expect(readdirSync(place.env.TMPDIR)).toHaveLength(2);
    await killed.stop("SIGKILL");
    const next = await startInTest(["--quiet"], place);
    await expect.poll(() => readdirSync(place.env.TMPDIR).length).toBe(1);
    const headers = { "content-range": "bytes 5-9/10" };
    expect((await fetch(upload_url, { method: "PUT", headers, body: "56789" })).status).toBe(200);
    await Promise.all([live.stop(), next.stop()]);
    expect(readdirSync(place.env.TMPDIR)).toEqual([]);
  });

  it("prints the token once with --shared and requires it [interfaces 7]", async () => {
    const server = await startInTest(["--shared"]);
    const { url, token } = server.ready;
    await expect.poll(() => server.output().stdout).toContain("curl ");
    expect(server.output().stdout.split(token!).length).toBe(2);
    expect((await fetch(`${url}/_control/sandboxes`)).status).toBe(401);
    const status = await runCommand(["status", "--url", url, "--token", token!, "--json"]);
    expect(status).toMatchObject({ code: 0, stderr: "" });
    expect(JSON.parse(status.stdout)).toMatchObject({ status: "ok", sandbox: { name: "default" } });
    expect((await runCommand(["status", "--url", url])).code).toBe(1);
    const fromEnvironment = await runCommand(["status", "--url", url], { env: { UNDERSTUDY_TOKEN: token! } });
    expect(fromEnvironment.code).toBe(0);
  });

  it("prints a generated token with --quiet, but not a given one [interfaces 7]", async () => {
    const startQuietly = async (token: string) => {
      const port = await findFreePort();
      const running = startCommand(["start", "--shared", "--quiet", "--port", String(port)], {
        cwd: createTempFolder(),
        env: { UNDERSTUDY_TOKEN: token },
      });
      await expect
        .poll(() =>
          fetch(`http://127.0.0.1:${port}/_control/health`).then(
            ({ status }) => status,
            () => 0,
          ),
        )
        .toBe(401);
      running.child.kill("SIGTERM");
      return (await running.finished).stdout;
    };
    expect(await startQuietly("")).toMatch(/^[\w-]{32}\n$/);
    expect(await startQuietly("given-by-the-team")).toBe("");
  });

  it("refuses a control token that could be guessed as wrong usage [interfaces 7]", async () => {
    const env = { UNDERSTUDY_TOKEN: "secret" };
    const { code, stderr } = await runCommand(["start", "--shared", "--port", "0"], { env });
    expect([code, stderr]).toEqual([
      2,
      "understudy: UNDERSTUDY_TOKEN must have at least 16 characters, not 6; omit it to have one generated\n",
    ]);
  });

  it("applies an edited fixture and scenario, and reports a broken edit with its line [interfaces 6]", async () => {
    const folder = createTempFolder();
    const fixture = join(folder, "mine.yaml");
    writeFileSync(fixture, "extends: reference\n");
    const server = await startInTest(["--fixture", "./mine.yaml", "--quiet"], { cwd: folder });
    const name = async () =>
      (await fetchBody(`${server.ready.url}/_control/sandboxes/default/state/users/usr_dan`)).name;
    expect(await name()).toBe("Dan Whitfield");
    // The watch begins after the server is ready, so the file is edited until the change is seen.
    const edit = (text: string) => writeFileSync(fixture, text);
    await expect
      .poll(
        async () => {
          edit("extends: reference\nusers: { usr_dan: { name: Daniel } }\n");
          return name();
        },
        { interval: 300 },
      )
      .toBe("Daniel");
    edit("extends: reference\nusers: { usr_dan: { nmae: D } }\n");
    await expect.poll(() => server.output().stderr).toMatch(/mine\.yaml:2:\d+/);
    expect(await name()).toBe("Daniel");
  });

  it("finds scenarios in a folder ./scenarios that was created after the start [interfaces 2]", async () => {
    const folder = createTempFolder();
    const { ready } = await startInTest(["--quiet"], { cwd: folder });
    mkdirSync(join(folder, "scenarios"));
    writeFileSync(join(folder, "scenarios/mine.yaml"), "rules:\n  - effect: { status: 503 }\n");
    expect(await runCommand(["scenario", "on", "mine", "--url", ready.url])).toMatchObject({ code: 0 });
    expect((await fetchApi(ready.url, "/v1/models")).status).toBe(503);
  });

  it("lists an active scenario whose file is deleted with that problem [interfaces 6]", async () => {
    const folder = createTempFolder();
    mkdirSync(join(folder, "scenarios"));
    const file = join(folder, "scenarios/mine.yaml");
    writeFileSync(file, "name: mine\ndescription: Mine alone\nrules: []\n");
    const { ready } = await startInTest(["--scenario", "mine", "--quiet"], { cwd: folder });
    const listSandboxes = async () => {
      const { stdout } = await runCommand(["scenario", "list", "--url", ready.url]);
      return stdout.split("\n").find((line) => / mine /.test(line));
    };
    expect(await listSandboxes()).toMatch(/^on +mine +own +Mine alone/);
    rmSync(file);
    await expect
      .poll(listSandboxes, { interval: 300 })
      .toMatch(/^on +mine +.*there is no file scenarios\/mine\.yaml; the last valid version is on/);
  });
});
