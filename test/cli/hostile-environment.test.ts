import { execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { waitUntil } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { drawPicture } from "../support/image-setup.ts";
import { createTempFolder, runCommand, startCommand, startServer } from "../support/run-understudy.ts";
import { useReference } from "../support/use-reference.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const BIN = fileURLToPath(new URL("../../bin/understudy.js", import.meta.url));
const HAR = fileURLToPath(new URL("../field/recordings/understudy-record/traffic.har", import.meta.url));
const listeners: Server[] = [];
const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const listener of listeners.splice(0)) listener.close();
});
const api = useReference();

/** A server that is not Understudy. It sends `says` after the first bytes, or nothing if that is undefined. */
async function startStranger(says: string | undefined): Promise<string> {
  const listener = createServer((socket) => {
    sockets.push(socket);
    socket.on("error", () => {});
    if (says !== undefined) socket.once("data", () => socket.end(says));
  });
  listeners.push(listener);
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  return `127.0.0.1:${(listener.address() as { port: number }).port}`;
}

const writeResponse = (type: string, body: string, status = "200 OK") =>
  `HTTP/1.1 ${status}\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`;

const PAGE = writeResponse("text/html", "<html>hello</html>");

const COMMANDS = [
  ["status"],
  ["reset"],
  ["clock", "advance", "5m"],
  ["scenario", "on", "outage"],
  ["snapshot", "list"],
  ["coverage"],
  ["trigger", "user.created"],
  ["suite", "calm.yaml", "--", "true"],
];

describe("a command whose --url is not Understudy", () => {
  it.each([
    ["a page", PAGE, "it answered 200, text/html"],
    [
      "other JSON",
      writeResponse("application/json", '{"status":"fine"}'),
      "it answered 200, application/json",
    ],
    ["null", writeResponse("application/json", "null"), "it answered 200, application/json"],
    ["a page that is not there", writeResponse("text/html", "<html>", "404 Not Found"), "it answered 404"],
    ["a page that fails", writeResponse("text/html", "<html>", "422 Nope"), "it answered 422"],
  ])(
    "prints one sentence and exits 1 for %s [interfaces 2]",
    async (_name, says, why) => {
      const address = await startStranger(says);
      const cwd = createTempFolder();
      writeFileSync(join(cwd, "calm.yaml"), "name: calm\nrules: []\n");
      // All commands connect by the same code, so only two of them are run with every answer.
      for (const command of says === PAGE ? COMMANDS : [COMMANDS[0]!, COMMANDS.at(-1)!]) {
        const at = command.indexOf("--");
        const words = [...command];
        words.splice(at < 0 ? words.length : at, 0, "--url", `http://${address}`);
        const { code, stdout, stderr } = await runCommand(words, { cwd });
        expect({ command, code, stdout, stderr }).toEqual({
          ...{ command, code: 1, stdout: "" },
          stderr: `understudy: The server at http://${address} is not Understudy: ${why}. Name the address that \`understudy start\` printed.\n`,
        });
      }
    },
    60_000,
  );

  it("prints one sentence and exits 1 for another protocol and for silence [interfaces 2]", async () => {
    const other = await runCommand(["status", "--url", await startStranger("SSH-2.0-OpenSSH\r\n")]);
    expect([other.code, other.stderr]).toEqual([
      1,
      expect.stringMatching(/^understudy: No Understudy .*\n$/),
    ]);
    const silent = await runCommand(["status", "--url", await startStranger(undefined)]);
    expect([silent.code, silent.stderr]).toEqual([
      1,
      expect.stringMatching(
        /^understudy: The server at .* is not Understudy: it was silent for 8 seconds\..*\n$/,
      ),
    ]);
  });

  it("completes an address without its scheme, and refuses an impossible one as wrong usage [interfaces 2]", async () => {
    const { host } = new URL(api.url);
    const { code, stdout } = await runCommand(["status", "--url", host, "--json"]);
    expect([code, JSON.parse(stdout).status]).toEqual([0, "ok"]);
    for (const url of ["http://", "ftp://127.0.0.1", "not an address", "http://me:secret@127.0.0.1", "[::"]) {
      const refused = await runCommand(["status", "--url", url]);
      expect([url, refused.code]).toEqual([url, 2]);
      expect(refused.stderr).toContain("is not a server's address; write it as in http://127.0.0.1:4747");
    }
  });

  it("says that a token cannot be sent, instead of blaming the server [interfaces 2]", async () => {
    const { code, stderr } = await runCommand(["status", "--url", api.url, "--token", "“copied-token”"]);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining("the control token has a character that no header can carry"),
    ]);
  });
});

describe("a command whose reader closes the pipe", () => {
  /** The output and exit code of a command whose reader closes the pipe at once. */
  const runUnread = (words: readonly string[], cwd: string) =>
    new Promise<{ code: number; text: string }>((resolve) => {
      const quoted = words.map((word) => `'${word}'`).join(" ");
      const line = `{ sleep 0.2; '${process.execPath}' '${BIN}' ${quoted}; echo $? > code; } 2> said | true; cat said; exit $(cat code)`;
      execFile("/bin/bash", ["-c", line], { cwd }, (error, text) =>
        resolve({ code: error === null ? 0 : Number(error.code), text }),
      );
    });

  it("keeps the exit code of a check or suite [interfaces 2]", async () => {
    const cwd = createTempFolder();
    writeFileSync(join(cwd, "wrong.yaml"), "name: wrong\nrulez: []\n");
    writeFileSync(join(cwd, "right.yaml"), "name: right\nrules: []\n");
    const check = await runUnread(["scenario", "check", "wrong.yaml"], cwd);
    expect(check).toEqual({ code: 1, text: "" });
    expect((await runUnread(["scenario", "check", "right.yaml"], cwd)).code).toBe(0);
    expect((await runUnread(["suite", "right.yaml", "--", "false"], cwd)).code).toBe(1);
    expect((await runUnread(["suite", "right.yaml", "--", "true"], cwd)).code).toBe(0);
    expect((await runUnread(["receiver-test", "http://127.0.0.1:9", "--secret", "whsec_x"], cwd)).code).toBe(
      1,
    );
    expect((await runUnread(["openapi"], cwd)).code).toBe(0);
    expect((await runUnread(["statsu"], cwd)).code).toBe(2);
  });

  it("ends if it would print until it is stopped [interfaces 2]", async () => {
    const cwd = createTempFolder();
    expect(await runUnread(["listen", "--port", "0"], cwd)).toEqual({ code: 0, text: "" });
  });

  it.each(["openapi", "completion", "status --help", "--version"])(
    "exits 2 with a message if the disk is full and cannot take the output of %s [interfaces 2]",
    async (words) => {
      const line = `'${process.execPath}' '${BIN}' ${words} > /dev/full`;
      const { code, text } = await new Promise<{ code: unknown; text: string }>((resolve) =>
        execFile("/bin/bash", ["-c", line], (error, _out, text) => resolve({ code: error?.code, text })),
      );
      expect([code, text]).toEqual([2, "understudy: the output cannot be written (ENOSPC)\n"]);
    },
  );

  it.each([
    ["a server", ["start"]],
    ["a recorder", ["record", "--target", "http://127.0.0.1:9", "--out", "out.har"]],
  ])("%s runs on if the disk is full and cannot take its output [interfaces 2]", async (_what, words) => {
    const cwd = createTempFolder();
    const port = await freePort();
    const line = `exec '${process.execPath}' '${BIN}' ${words.join(" ")} --port ${port} > /dev/full`;
    const child = spawn("/bin/bash", ["-c", line], { cwd, stdio: ["ignore", "ignore", "pipe"] });
    let text = "";
    child.stderr.on("data", (chunk) => {
      text += chunk;
    });
    const ended = once(child, "exit");
    await expect.poll(() => text).toBe("understudy: the output cannot be written (ENOSPC)\n");
    const call = () => fetch(`http://127.0.0.1:${port}/v1/models`).then((answer) => answer.status, String);
    expect([await call(), await call()]).toEqual(words[0] === "start" ? [401, 401] : [502, 502]);
    child.kill("SIGTERM");
    expect(await ended).toEqual([2, null]);
    expect(text).toBe("understudy: the output cannot be written (ENOSPC)\n");
  });
});

it("a result is printed although its report finds the disk full, and the message names the file [interfaces 2]", async ({
  skip,
}) => {
  const cwd = createTempFolder();
  const disk = join(cwd, "disk");
  mkdirSync(disk);
  if (spawnSync("mount", ["-t", "tmpfs", "-o", "size=16k", "tmpfs", disk]).status !== 0)
    return skip("no separate file system could be mounted");
  onTestFinished(() => void spawnSync("umount", [disk]));
  writeFileSync(join(disk, "full"), Buffer.alloc(16 * 1024));
  writeFileSync(join(cwd, "calm.yaml"), "name: calm\nrules: []\n");
  const file = join(disk, "out");
  for (const [words, result] of [
    [["suite", "calm.yaml", "--report", `junit=${file}`, "--", "false"], "0 passed, 1 failed"],
    [["coverage", "--html", file, "--", "true"], "documented outcomes"],
    [["client-test", "--report", `html=${file}`, "--", "true"], "made no request"],
    [
      [
        "receiver-test",
        "http://127.0.0.1:9",
        "--secret",
        "whsec_x",
        "--patience",
        "0",
        "--report",
        `junit=${file}`,
      ],
      "FAIL",
    ],
    [["verify", "--har", HAR, "--report", `html=${file}`], "PASS"],
  ] as const) {
    const { code, stdout, stderr } = await runCommand(words, { cwd });
    expect([code, stdout]).toEqual([2, expect.stringContaining(result)]);
    expect(stderr).toContain(`understudy: cannot use ${file}: the disk is full\n`);
  }
});

it("a server that cannot load sharp answers images with 501, and says what to install [interfaces 17]", async () => {
  const cwd = createTempFolder();
  const hooks = `export const resolve = (name, context, next) => {
    if (name === "sharp") throw new Error("Could not load the sharp module\\nPossible solutions");
    return next(name, context);
  };`;
  const preload = `import { register } from "node:module";
    register("data:text/javascript,${encodeURIComponent(hooks)}");`;
  writeFileSync(join(cwd, "preload.mjs"), preload);
  const env = { NODE_OPTIONS: `--import=${join(cwd, "preload.mjs")}` };
  const server = await startServer([], { cwd, env });
  onTestFinished(() => void server.stop());
  const upload = (bytes: Buffer, name: string) => {
    const form = new FormData();
    form.append("file", new File([bytes], name, { type: "image/png" }));
    const headers = { "api-key": "ak_danMemberAcme00000000000000000000000000" };
    const url = `${server.ready.url}/v1/organizations/org_acme/files/upload`;
    return fetch(url, { method: "POST", headers, body: form });
  };
  const refused = await upload(await drawPicture(20, 20).png().toBuffer(), "a.png");
  expect([refused.status, refused.headers.get("content-type")]).toEqual([501, "application/problem+json"]);
  expect(await refused.json()).toMatchObject({
    detail:
      "The package sharp, which processes images, cannot be loaded: Could not load the sharp module. Install it for this system (npm install --include=optional sharp), and restart.",
  });
});

describe("wrong usage", () => {
  it.each([
    [["snapshot", "save"], "<name> is missing: understudy snapshot save <name>"],
    [["snapshot", "export", "a"], "<file> is missing: understudy snapshot export <name> <file>"],
    [["snapshot", "import"], "<name> and <file> are missing"],
    [["scenario", "on"], "<name> is missing: understudy scenario on <name>"],
    [["trigger"], "<event> is missing: understudy trigger <event>"],
    [["status", "--url", ""], "--url is empty"],
    [["status", "--url"], "url"],
    [["status", "--sandbox", "a", "--sandbox", "b"], "--sandbox is given more than once"],
    [["snapshot", "save", ""], "<name> is empty"],
    [["reset", "--seed", "x"], "--seed takes a number"],
    [["clock", "run", "x0", "--url", "http://127.0.0.1:9"], "x0"],
    [["trigger", "user.created", "--set", ""], "--set is empty"],
    [["start", "--fixture", ""], "--fixture is empty"],
    [["start", "--persist", "worlds.json", "--durable"], "--durable needs --persist DIR"],
    [["start", "--shared", "--host", "203.0.113.9"], "--host 203.0.113.9 is not an address of this machine"],
    [["start", "--shared", "--host", "fe80::1"], "--host fe80::1 is not an address of this machine"],
    [["listen", "--port", "0", "--host", "fe80::1"], "--host fe80::1 is not an address of this machine"],
    [["types", "--url", "http://127.0.0.1:9", "--openapi", "a.yaml"], "types reads either files"],
    [["types", "--openapi", "no.yaml"], /^understudy: there is no file no\.yaml$/m],
    [["types", "--openapi", "."], /^understudy: \S+ is a folder, not an OpenAPI document$/m],
    [["types", "--operations", "no.ts"], /^understudy: there is no file no\.ts$/m],
    [["start", "--fixture", "./no.yaml"], /^understudy: there is no file no\.yaml$/m],
    [["start", "--fixture", "."], /^understudy: \S+ is a folder, not a fixture$/m],
    [["start", "--scenario", "no.yaml"], /^understudy: there is no file no\.yaml$/m],
    [
      ["verify", "--target", "http://127.0.0.1:9", "--key", "ak_x", "--use", "./"],
      "cannot use ./: it is a folder",
    ],
    [["types", "--openapi", "a.yaml", "--token", "secret"], "--token needs --url"],
    [["types", "--openapi", "a.yaml", "--sandbox", "ci"], "--sandbox needs --url"],
    [["suite", "a.yaml", "--token", "secret", "--", "true"], "--token needs --url"],
    [["trigger", "user.created", "--rate", "5/s"], "--rate needs --count of 2 or more"],
    [["listen", "--port", "0", "--sandbox", "ci"], "--sandbox needs --forward-to"],
    [["listen", "--url", "http://127.0.0.1:9", "--token", "s"], "--url and --token need --forward-to"],
    [["coverage", "--all", "--sandbox", "ci"], "--all counts every sandbox; leave out --sandbox"],
    [["start", "--allow-webhook", "10.0.0.0/8"], "--allow-webhook needs --shared"],
    [
      ["start", "--upstream", "http://a.test", "--allow-upstream", "10.0.0.0/8"],
      "--allow-upstream needs --shared",
    ],
    [["fixture", "generate", "--count", "users=1,users=2"], "--count names users more than once"],
    [["suite", "x.yaml", "--report", "html=a,html=b", "--", "true"], "--report has html more than once"],
    [["suite", "x.yaml", "--report", "html=a,junit=./a", "--", "true"], "--report names a for both kinds"],
  ])("is exit 2 for %j: %s [interfaces 2]", async (words, message) => {
    const { code, stdout, stderr } = await runCommand(words, { cwd: createTempFolder() });
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(message);
    expect(stderr).not.toMatch(/^\s+at |ENO|EADDR/m);
  });

  it("is explained in English in every language of the terminal [interfaces 2]", async () => {
    const env = { LC_ALL: "fr_FR.UTF-8" };
    const unknown = await runCommand(["journal", "--follw"], { env });
    expect(unknown.stderr).toContain("Unknown argument: follw (did you mean --follow?)");
    const missing = await runCommand(["snapshot", "save"], { env });
    expect(missing.stderr).toContain("<name> is missing: understudy snapshot save <name>");
    const help = await runCommand(["status", "--help"], { env });
    expect(help.stdout).toContain("Options:");
  });

  it("names an unknown scenario, with the nearest one [interfaces 2]", async () => {
    const { code, stderr } = await runCommand(["scenario", "on", "flaky-ten-percnt", "--url", api.url]);
    expect([code, stderr]).toEqual([
      2,
      'understudy: There is no scenario "flaky-ten-percnt". Did you mean "flaky-ten-percent"? `understudy scenario list` lists them all.\n',
    ]);
  });
});

describe("a file that a command writes", () => {
  beforeAll(async () => {
    await runCommand(["snapshot", "save", "kept", "--url", api.url]);
  });

  it("replaces only files, and only its user may read it if it contains keys [interfaces 2]", async () => {
    const cwd = createTempFolder();
    mkdirSync(join(cwd, "folder"));
    writeFileSync(join(cwd, "calm.yaml"), "name: calm\nrules: []\n");
    const { url } = api;
    for (const target of ["folder", "/dev/null"]) {
      for (const words of [
        ["snapshot", "export", "kept", target, "--url", url],
        ["coverage", "--html", target, "--url", url],
        ["fixture", "generate", "--force", "--out", target],
        ["suite", "calm.yaml", "--report", `html=${target}`, "--", "true"],
        ["start", "--port", "0", "--ready-file", target],
      ]) {
        const { code, stderr } = await runCommand(words, { cwd });
        expect([words, code]).toEqual([words, 2]);
        expect(stderr).toMatch(/is (a folder|not a regular file)/);
      }
    }
    writeFileSync(join(cwd, "open.json"), "{}", { mode: 0o644 });
    const readBack = async (...words: string[]) =>
      (await runCommand(["snapshot", "export", "kept", ...words, "--url", url], { cwd })).code;
    expect(await readBack("open.json")).toBe(2);
    expect(readFileSync(join(cwd, "open.json"), "utf8")).toBe("{}");
    for (const words of [["new.json"], ["open.json", "--force"]]) {
      expect(await readBack(...words)).toBe(0);
      expect(statSync(join(cwd, words[0]!)).mode & 0o777).toBe(0o600);
    }
  });

  it("is removed at the end of the process, and is never a link, if it is the ready file [interfaces 2]", async () => {
    const cwd = createTempFolder();
    const file = join(cwd, "ready.json");
    writeFileSync(join(cwd, "mine.txt"), "mine");
    symlinkSync(join(cwd, "mine.txt"), join(cwd, "link.json"));
    const refused = await runCommand(["start", "--port", "0", "--ready-file", "link.json"], { cwd });
    expect([refused.code, readFileSync(join(cwd, "mine.txt"), "utf8")]).toEqual([2, "mine"]);
    writeFileSync(file, "of an earlier start");
    const running = startCommand(["start", "--quiet", "--port", "0", "--ready-file", file], { cwd });
    await expect.poll(() => readFileSync(file, "utf8")).toContain('"pid"');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    running.child.kill("SIGTERM");
    expect((await running.finished).code).toBe(0);
    expect(existsSync(file)).toBe(false);
  });

  it("has its folder created, and is not removed if another server has overwritten the ready file [interfaces 2]", async () => {
    const cwd = createTempFolder();
    const file = join(cwd, "new/folder/ready.json");
    const running = startCommand(["start", "--quiet", "--port", "0", "--ready-file", file], { cwd });
    await expect.poll(() => existsSync(file)).toBe(true);
    writeFileSync(file, JSON.stringify({ pid: 1 }));
    running.child.kill("SIGTERM");
    await running.finished;
    expect(existsSync(file)).toBe(true);
  });

  it("is accepted by start if fixture generate wrote it, and is JSON if its name says so [interfaces 5]", async () => {
    const cwd = createTempFolder();
    const generate = (...words: string[]) => runCommand(["fixture", "generate", ...words], { cwd });
    const large = await generate("--count", "models=10000", "--out", "large.yaml");
    expect([large.code, existsSync(join(cwd, "large.yaml"))]).toEqual([2, false]);
    expect(large.stderr).toMatch(/these counts give an invalid fixture: .*--out FILE\.json/);
    expect((await generate("--count", "models=10000", "--out", "large.json")).code).toBe(0);
    expect(JSON.parse(readFileSync(join(cwd, "large.json"), "utf8")).models).toHaveLength(10_000);
    expect((await runCommand(["fixture", "check", "large.json"], { cwd })).code).toBe(0);
    expect((await generate("--count", "users=0")).stderr).toMatch(
      /there is no user .*; ask for at least one user\n$/,
    );
  });
});

describe("an error of the operating system is one sentence and exit 2", () => {
  const expectRefusal = async (words: string[], cwd: string, message: string) => {
    const { code, stdout, stderr } = await runCommand(words, { cwd });
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(message);
    expect(stderr).not.toMatch(/^\s+at /m);
  };

  it.each([
    [
      ["fixture", "generate", "--count", "users=1", "--out", "/proc/x/y.yaml"],
      "there is no such file or folder",
    ],
    [["start", "--port", "0", "--persist", "/proc/x/y"], "/proc/x"],
    [
      ["record", "--target", "http://127.0.0.1:9", "--out", "/proc/x/y.har"],
      "there is no such file or folder",
    ],
    [["fixture", "generate", "--count", "users=1", "--out", "there/y.yaml"], "a part of its path is a file"],
    [["start", "--port", "0", "--persist", "there"], "something else with that name exists"],
    [
      ["signature", "explain", "--secret", "x", "--body", ".", "--mine", "y"],
      "cannot read .: it is a folder",
    ],
    [["replay", "."], "cannot read the bundle .: it is a folder"],
    [["start", "--port", "0", "--config", "."], "cannot read the configuration .: it is a folder"],
    [["receiver-test", "https://127.0.0.1:9", "--secret", "x", "--ca", "."], "it is a folder"],
  ])("for %j [interfaces 2]", async (words, message) => {
    const cwd = createTempFolder();
    writeFileSync(join(cwd, "there"), "a file");
    await expectRefusal(words, cwd, message);
    expect(readFileSync(join(cwd, "there"), "utf8")).toBe("a file");
  });

  it("for a read-only disk [interfaces 2]", async ({ skip }) => {
    const cwd = createTempFolder();
    const disk = join(cwd, "disk");
    mkdirSync(disk);
    if (spawnSync("mount", ["-t", "tmpfs", "-o", "ro,size=64k", "tmpfs", disk]).status !== 0)
      return skip("no separate file system could be mounted");
    onTestFinished(() => void spawnSync("umount", [disk]));
    const said = "the disk is read-only";
    await expectRefusal(["fixture", "generate", "--count", "users=1", "--out", "disk/y.yaml"], cwd, said);
    await expectRefusal(["record", "--target", "http://127.0.0.1:9", "--out", "disk/y.har"], cwd, said);
    await expectRefusal(["start", "--port", "0", "--persist", "disk/kept"], cwd, said);
    await expectRefusal(["start", "--port", "0", "--ready-file", "disk/ready.json"], cwd, said);
  });
});

describe("a server whose terminal ends", () => {
  it("ends a recording cleanly at SIGHUP, with a whole file [interfaces 2]", async () => {
    const cwd = createTempFolder();
    const running = startCommand(["record", "--target", "http://127.0.0.1:9", "--out", "a.har"], { cwd });
    await waitUntil(() => existsSync(join(cwd, "a.har")) && running.output().stdout.includes("Call http"));
    running.child.kill("SIGHUP");
    expect((await running.finished).code).toBe(0);
    expect(JSON.parse(readFileSync(join(cwd, "a.har"), "utf8")).log.entries).toEqual([]);
  });

  it("exits cleanly at SIGHUP [interfaces 2]", async () => {
    const server = await startServer(["--quiet"]);
    expect(await server.stop("SIGHUP")).toMatchObject({ code: 0, stdout: "", stderr: "" });
  });
});
