import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { KEYS } from "../support/harness.ts";
import { runInProcess } from "../support/run-in-process.ts";
import { createTempFolder, runCommand, startCommand } from "../support/run-understudy.ts";
import { useReference } from "../support/use-reference.ts";

const api = useReference();

const run = (...args: string[]) => runCommand([...args, "--url", api.url]);
const runJson = async (...args: string[]) => JSON.parse((await run(...args, "--json")).stdout);
const call = (path: string, who: keyof typeof KEYS = "ada", init: RequestInit = {}) =>
  fetch(api.url + path, {
    ...init,
    headers: { "api-key": KEYS[who], "content-type": "application/json" },
  });

describe("the commands sandbox, journal, bundle and completion", () => {
  it("create, list, fork and delete sandboxes [interfaces 11]", async () => {
    const made = await run(
      "sandbox",
      "create",
      "ci-42",
      "--clock",
      "frozen",
      "--setting",
      "preview=on",
      "--scenario",
      "slow-network",
    );
    expect([made.code, made.stdout]).toEqual([0, `ci-42 is at ${api.url}/_s/ci-42\n`]);
    expect(await runJson("status", "--sandbox", "ci-42")).toMatchObject({
      sandbox: { clock: { mode: "frozen" }, settings: { preview: "on" }, scenarios: ["slow-network"] },
    });
    expect((await run("sandbox", "fork", "ci-42", "ci-43")).code).toBe(0);
    const { items } = await runJson("sandbox", "list");
    expect(items.map(({ name }: { name: string }) => name)).toEqual(["default", "ci-42", "ci-43"]);
    expect((await run("sandbox", "delete", "ci-43")).stdout).toBe("Deleted ci-43.\n");
    expect(await runJson("sandbox", "delete", "default")).toEqual({ reset: "default" });
    const gone = await run("sandbox", "delete", "ci-4");
    expect([gone.code, gone.stderr]).toEqual([
      1,
      'understudy: There is no sandbox "ci-4". Did you mean "ci-42"?\n',
    ]);
    const ported = await run("sandbox", "create", "ported", "--origin");
    expect(ported.stdout).toMatch(/^ported is at http:\/\/127\.0\.0\.1:\d+\n$/);
    expect((await run("sandbox", "delete", "ported")).code).toBe(0);
    const wrong = await run("sandbox", "create", "x", "--setting", "previw=on");
    expect([wrong.code, wrong.stderr]).toEqual([
      2,
      'understudy: --setting previw is not known here. Did you mean "preview"?\n',
    ]);
    expect((await run("sandbox", "create", "x", "--setting", "preview")).code).toBe(2);
    expect((await run("sandbox", "crate", "x")).stderr).toContain(
      'sandbox has no action "crate". Did you mean "create"?',
    );
  });

  it.each([
    [1, "status --sandbox elephant", 'There is no sandbox "elephant". `understudy sandbox list` lists them.'],
    [2, "status --sandbox .", 'understudy: "." is not an id or a name'],
    [2, "snapshot restore ..", 'understudy: ".." is not an id or a name'],
    [1, "snapshot restore zz", 'There is no snapshot "zz". `understudy snapshot list` lists them.'],
    [2, "journal --limit 0", "understudy: --limit must be at least 1"],
    [2, "explain models.list --as usr_dann", 'understudy: --as "usr_dann" is not a user of this sandbox.'],
    [2, "clock advance 5x", "understudy: <by> must be a duration such as 90s"],
    [2, "clock set noon", "understudy: <instant> must be an ISO 8601 timestamp"],
    [2, "deliveries redeliver del_failed --since 2026-03-15", "understudy: --since needs --all-failed"],
    [
      2,
      "deliveries redeliver --all-failed --again",
      "--again needs ids, and cannot be combined with --all-failed",
    ],
    [
      2,
      "deliveries redeliver --all-failed --webhook zz",
      '--webhook "zz" is not a webhook of this sandbox; GET /_control/sandboxes/{name}/state/webhooks lists them.',
    ],
    [2, "explain models.list --as zz", "GET /_control/sandboxes/{name}/state/users lists them."],
    [2, "sandbox create zz --setting previw=on", "understudy: --setting previw is not known here."],
    [
      2,
      "sandbox create zz --clock x99999999",
      `"x99999999" is not a rate; write for example x1, x60 or x0.5; at most x1000000`,
    ],
    [2, "explain threads.delete --param x=1", "understudy: --param x is not a parameter of threads.delete"],
    [2, "listen --forward-to :1/ --events zz", 'understudy: --events must be "user.created", '],
    [2, "listen --forward-to :1/ --organization zz", "understudy: --organization must be a text"],
    [2, "scenario on zz", 'There is no scenario "zz". `understudy scenario list` lists them all.'],

    [1, "deliveries show zz", 'There is no delivery "zz". `understudy deliveries list` lists them.'],
    [
      2,
      "deliveries redeliver zz",
      '<ids> "zz" is not a delivery of this sandbox; `understudy deliveries list` lists them.',
    ],
    [
      2,
      "deliveries redeliver del_ok",
      '<ids> "del_ok" was delivered; `again: true` (--again) sends it again.',
    ],
    [
      2,
      "journal --operation zz",
      'operation "zz" matches no operation of the emulated API; `understudy openapi` has them all.',
    ],
    [1, "rewind zz", "`understudy history` lists its entries."],
    [2, "scenario zz", "Its actions are list, on, off, show, check, from-har.\n"],
    [2, "journal show zz", '"show", "zz" are more than the command takes: understudy journal\n'],
    [2, "sandbox create a b", '"b" is more than the command takes: understudy sandbox create [name]\n'],
    [2, "coverage npx vitest", "comes after --, as in: understudy coverage -- npx vitest"],
    [2, "sandbox list --sandbox x", "understudy: --sandbox has no effect on this command; leave it out\n"],
    [
      2,
      "sandbox create x --sandbox x",
      "understudy: --sandbox has no effect on this command; leave it out\n",
    ],
    [
      2,
      "sandbox create x --fixture referense",
      'understudy: there is no fixture "referense"; known by name:',
    ],
    [2, "status x", '"x" is more than the command takes: understudy status\n'],
    [2, "record", "understudy: --target and --out are missing\n"],
    [2, "clock advance", "<by> is missing: give a duration such as 5m"],
    [2, "sandbox create --fixtur x", "Run `understudy sandbox create --help` for the options.\n"],
    [2, "snapshot export a", "Run `understudy snapshot export --help` for the options.\n"],
    [2, "sandbox", "Run `understudy sandbox --help` for the options.\n"],
  ])("exit with %i and a next step: %s [interfaces 2]", async (code, line, said) => {
    const ended = await run(...line.split(" "));
    expect([ended.code, ended.stderr]).toEqual([code, expect.stringContaining(said)]);
  });

  it("show built-in scenarios as built-in, as the documents do [interfaces 2]", async () => {
    expect((await run("scenario", "list")).stdout).toMatch(/ flaky-ten-percent +built-in /);
    expect(await runJson("scenario", "list")).toMatchObject({
      items: expect.arrayContaining([
        expect.objectContaining({ name: "flaky-ten-percent", origin: "shipped" }),
      ]),
    });
  });

  it("show no default of optional lists, and no $0 in examples, in their help [interfaces 2]", async () => {
    expect((await run("deliveries", "redeliver", "--help")).stdout).not.toContain("[]");
    expect((await run("sandbox", "export", "--help")).stdout).toContain("Open it with: understudy open");
  });

  it("list the journal with reasons, filter and follow it [interfaces 11]", async () => {
    await run("reset");
    await call("/v1/models");
    await call("/v1/threads/thread_long", "cleo", { method: "DELETE" });
    const { stdout } = await run("journal");
    expect(stdout).toMatch(/GET \/v1\/models -> 200 {2}usr_ada {2}ok {2}req_/);
    expect(stdout).toMatch(
      /-> 403 INSUFFICIENT_PERMISSIONS {2}usr_cleo {2}access {2}req_\w+\n {4}usr_cleo is not allowed to do this/,
    );
    expect((await runJson("journal", "--status", "4xx")).total).toBe(1);
    expect((await run("journal", "--status", "5xx")).stdout).toBe("No entries match.\n");
    const wrong = await run("journal", "--operation", "model.list");
    expect([wrong.code, wrong.stderr]).toEqual([
      2,
      'understudy: --operation "model.list" matches no operation of the emulated API. Did you mean "models.list"?\n',
    ]);
    const following = startCommand([
      "journal",
      "--follow",
      "--operation",
      "models.*",
      "--json",
      "--url",
      api.url,
    ]);
    const readLines = () =>
      following
        .output()
        .stdout.trim()
        .split("\n")
        .filter((line) => line !== "");
    await expect.poll(() => readLines().length).toBe(1);
    await call("/v1/threads/thread_long", "cleo", { method: "DELETE" });
    await call("/v1/models", "dan");
    await expect.poll(() => readLines().length).toBe(2);
    expect(readLines().map((line) => JSON.parse(line).principal)).toEqual(["usr_ada", "usr_dan"]);
    following.child.kill();
    await following.finished;
  });

  it.each(["journal", "history"])(
    "end %s --follow with 1 when the server ends it [interfaces 2, 11]",
    async (log) => {
      await run("sandbox", "create", "followed");
      const args = [log, "--follow", "--json", "--sandbox", "followed", "--url", api.url];
      const following = startCommand(args);
      await call("/_s/followed/v1/threads/thread_ada", "ada", { method: "DELETE" });
      await expect.poll(() => following.output().stdout).toContain("thread_ada");
      await run("sandbox", "delete", "followed");
      const { code, stderr } = await following.finished;
      expect([code, JSON.parse(stderr)]).toEqual([
        1,
        { error: expect.stringContaining("it stopped, or the sandbox was deleted") },
      ]);
    },
  );

  it("write a bundle for replay, and replace a file only with --force [interfaces 11]", async () => {
    await run("reset");
    await call("/v1/models");
    const file = join(createTempFolder(), "Ada's bundle.json");
    const { stdout } = await run("bundle", file);
    expect(stdout).toContain(`Wrote ${file}: 1 step.`);
    // The shell must read the file in the printed command as one word.
    const [, words] = /`understudy replay (.*)`/.exec(stdout)!;
    expect(execFileSync("sh", ["-c", `printf '<%s>' ${words}`], { encoding: "utf8" })).toBe(`<${file}>`);
    expect((await runCommand(["replay", file])).code).toBe(0);
    const again = await run("bundle", file);
    expect([again.code, again.stderr]).toEqual([
      2,
      `understudy: ${file} exists; add --force to replace it\n`,
    ]);
    expect((await run("bundle", file, "--force")).code).toBe(0);
    const link = `${file}-link`;
    symlinkSync(`${file}-missing`, link);
    expect((await run("bundle", link)).stderr).toBe(
      `understudy: ${link} exists; add --force to replace it\n`,
    );
  });

  it("create missing folders above a file, and name them [interfaces 11]", async () => {
    await run("snapshot", "save", "far");
    const commands = [["bundle"], ["snapshot", "export", "far"], ["coverage", "--html"]];
    for (const [position, words] of commands.entries()) {
      const file = join(createTempFolder(), "not", "there", `${position}`);
      const { code, stderr } = await run(...words, file);
      expect([code, stderr], words[0]).toEqual([0, `understudy: created the folder ${dirname(file)}\n`]);
      expect(readFileSync(file, "utf8"), words[0]).not.toBe("");
    }
  });

  it("print the OpenAPI document of the control API with openapi --control [interfaces 11]", async () => {
    const { code, stdout } = await runCommand(["openapi", "--control"]);
    const { servers, ...shown } = (await (await fetch(`${api.url}/_control/api.json`)).json()) as {
      servers: unknown;
    };
    const { servers: _, ...printed } = JSON.parse(stdout);
    expect([code, printed]).toEqual([0, shown]);
    // A running server names its own address.
    expect(servers).toMatchObject([{ url: api.url }]);
  });

  it("show fields in snapshot diff, and replace no file by export unasked [interfaces 11]", async () => {
    await run("reset");
    await run("snapshot", "save", "before");
    const body = JSON.stringify({ new_parent_id: "dept_ops" });
    await call("/v1/organizations/org_acme/departments/dept_ml/reparent", "ada", { method: "POST", body });
    const { stdout } = await run("snapshot", "diff", "before");
    expect(stdout).toContain('~ departments dept_ml\n    parent_id: "dept_eng" -> "dept_ops"\n');
    const file = join(createTempFolder(), "snapshot.json");
    writeFileSync(file, "precious");
    const refused = await run("snapshot", "export", "before", file);
    expect([refused.code, refused.stderr]).toEqual([
      2,
      `understudy: ${file} exists; add --force to replace it\n`,
    ]);
    expect(readFileSync(file, "utf8")).toBe("precious");
    expect((await run("snapshot", "export", "before", file, "--force")).code).toBe(0);
    expect(JSON.parse(readFileSync(file, "utf8"))).toHaveProperty("world");
    expect(existsSync(file)).toBe(true);
  });

  it("print a script for completion that knows commands and names [interfaces 11]", async () => {
    const script = await runCommand(["completion"]);
    expect([script.code, script.stderr]).toEqual([0, ""]);
    expect(script.stdout).toContain("--get-yargs-completions");
    const completeWords = async (run: typeof runInProcess, ...words: string[]) => {
      const { code, stdout, stderr } = await run(["--get-yargs-completions", "understudy", ...words], {});
      expect([code, stderr]).toEqual([0, ""]);
      return stdout.split("\n");
    };
    expect(await completeWords(runCommand, "jour")).toContain("journal");
    // The command itself completes these names: yargs would end the process first.
    expect(await completeWords(runInProcess, "trigger", "user.")).toContain("user.created");
    expect(await completeWords(runInProcess, "explain", "thr")).toContain("threads.delete");
    expect(await completeWords(runInProcess, "scenario", "on", "fl")).toContain("flaky-ten-percent");
    // Options, also where a name may stand, and after the two hyphens with which they begin.
    expect(await completeWords(runCommand, "start", "--")).toContain("--fixture");
    expect(await completeWords(runCommand, "trigger", "user.created", "--co")).toContain("--count");
    expect(await completeWords(runCommand, "events", "user.created", "--types", "")).toEqual([
      "ts",
      "py",
      "",
    ]);
  });

  it("list, show and redeliver deliveries, with the status that they are filtered by [interfaces 14]", async () => {
    await run("reset");
    const body = JSON.stringify({ url: "http://127.0.0.1:9/hook", events: ["user.created"] });
    await call("/webhooks", "ada", { method: "POST", body });
    const triggered = await run("trigger", "user.created", "--for", "usr_dan");
    expect(triggered.stdout).toMatch(/ failed {2}none +no answer: connect ECONNREFUSED/);
    const [delivery] = (await runJson("deliveries", "list", "--status", "pending", "--limit", "1")).items;
    expect((await run("deliveries", "list")).stdout).toMatch(
      / pending +1 +\S+Z +no answer: connect ECONNREFUSED 127\.0\.0\.1:9/,
    );
    const shown = await run("deliveries", "show", delivery.delivery_id);
    expect(shown.stdout).toMatch(/^del_\S+: user\.created to .*\), pending\n/);
    expect(shown.stdout).toContain(`> ${delivery.delivery_id}.1: POST http://127.0.0.1:9/hook`);
    expect(shown.stdout).toContain("  X-Service-Event: user.created");
    const again = await run("deliveries", "redeliver", delivery.delivery_id);
    expect([again.code, again.stdout.trim().split("\n").at(-1)]).toEqual([1, "0 of 1 were delivered."]);
    const wrong = await run("deliveries", "redeliver");
    expect([wrong.code, wrong.stderr]).toEqual([2, "understudy: name the deliveries, or use --all-failed\n"]);
  });
});
