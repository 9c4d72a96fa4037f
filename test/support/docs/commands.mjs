#!/usr/bin/env node
/*
 * Stands in for `npx`, `npm`, `mvn` and `docker` while a page's examples run: the same commands, on this build and on free
 * ports. What would run until Ctrl-C (start, listen, record, --follow, --forward-to) goes on in the background once it is up.
 */
import { spawn, spawnSync } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { pathToFileURL } from "node:url";

const { STAGE, ROOT, SERVER_PORT, LISTEN_PORT, RECORD_PORT, CHROMIUM = "" } = process.env;
const EXITS = JSON.parse(process.env.EXITS ?? "{}");
/** For machines under load: runners give a test five seconds, in which a first one also starts the server. */
const PATIENCE_MS = 60_000;
const BIN = join(ROOT, "bin", "understudy.js");
const [, , tool, ...given] = process.argv;

/**
 * On the page's server, unless the command line or a suite around it names another; in this process, which spares the
 * command's own.
 */
async function onServer(args) {
  process.env.UNDERSTUDY_URL ||= `http://127.0.0.1:${SERVER_PORT}`;
  process.argv = [process.execPath, BIN, ...args];
  process.on("exit", (code) => {
    process.exitCode = judged(code);
  });
  await import(pathToFileURL(join(ROOT, "dist", "cli", "main.js")).href);
}

/** Runs to its end; exits as it does, or with 0 where the page says that this one fails. */
function run(command, args, options = {}) {
  const { status, signal } = spawnSync(command, args, { stdio: "inherit", ...options });
  return judged(status ?? signal);
}

function judged(ended) {
  const expected = EXITS[given.join(" ")] ?? 0;
  if (ended === expected) return 0;
  process.stderr.write(`${tool} ${given.join(" ")}: exit ${ended}, not ${expected}\n`);
  return 99;
}

async function background(args, isUp) {
  const log = join(STAGE, `.background-${process.pid}.log`);
  const out = openSync(log, "w");
  const child = spawn(process.execPath, [BIN, ...args], { stdio: ["ignore", out, out], detached: true });
  let ended;
  child.once("exit", (code) => {
    ended = code;
  });
  appendFileSync(join(STAGE, ".pids"), `${child.pid}\n`);
  while (!isUp(readFileSync(log, "utf8"))) {
    if (ended !== undefined) {
      process.stderr.write(
        `understudy ${args.join(" ")} ended with ${ended}: ${readFileSync(log, "utf8")}\n`,
      );
      return 99;
    }
    await wait(20);
  }
  process.stdout.write(readFileSync(log, "utf8"));
  child.unref();
  return { pid: child.pid };
}

const isAlive = (pid) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** The page's server, in place of the one before. */
async function start(args) {
  const pidFile = join(STAGE, ".server-pid");
  if (existsSync(pidFile)) {
    const pid = Number(readFileSync(pidFile, "utf8"));
    if (isAlive(pid)) process.kill(pid, "SIGTERM");
    while (isAlive(pid)) await wait(20);
  }
  const ready = join(STAGE, ".ready.json");
  rmSync(ready, { force: true });
  const all = ["start", ...args, "--port", SERVER_PORT, "--ready-file", ready];
  const started = await background(all, () => existsSync(ready));
  if (typeof started === "number") return started;
  writeFileSync(pidFile, String(started.pid));
  return 0;
}

async function understudy(args) {
  const [command = "start", ...rest] = args;
  const forwards = args.includes("--forward-to");
  if (forwards || args.includes("--follow")) {
    const isUp = (log) => !forwards || log.includes("It is signed with");
    const going = await background([...args, "--url", `http://127.0.0.1:${SERVER_PORT}`], isUp);
    return typeof going === "number" ? going : 0;
  }
  // Who asks for a file to wait for waits itself.
  if (command === "start" && !rest.includes("--ready-file")) return start(rest);
  const port = { listen: LISTEN_PORT, record: RECORD_PORT }[command];
  if (port !== undefined) {
    const going = await background([command, ...rest, "--port", port], (log) => log.includes(`:${port}`));
    return typeof going === "number" ? going : 0;
  }
  return onServer(args);
}

const TOOLS = {
  vitest: ["node_modules/vitest/vitest.mjs"],
  jest: ["node_modules/jest/bin/jest.js"],
  msw: ["node_modules/msw/cli/index.js"],
  playwright: ["node_modules/@playwright/test/cli.js"],
  tsc: ["node_modules/typescript/bin/tsc"],
  vite: ["node_modules/vite/bin/vite.js"],
};

/** Playwright with the Chromium of this machine. */
function playwright(args) {
  if (args[0] === "install") return CHROMIUM === "" ? 99 : 0;
  const own = existsSync("playwright.config.ts")
    ? 'import own from "./playwright.config.ts";'
    : "const own = {};";
  const launchOptions = { executablePath: CHROMIUM, args: ["--no-sandbox"] };
  writeFileSync(
    "stage.config.ts",
    `${own}\nexport default { ...own, timeout: ${PATIENCE_MS}, expect: { timeout: ${PATIENCE_MS} }, use: { ...own.use, launchOptions: ${JSON.stringify(launchOptions)} } };\n`,
  );
  return run(process.execPath, [join(ROOT, TOOLS.playwright[0]), ...args, "--config", "stage.config.ts"]);
}

function npx(args) {
  const [name, ...rest] = args.filter((word, index) => index > 0 || word !== "--no");
  if (name === "understudy") return understudy(rest);
  if (name === "playwright") return playwright(rest);
  if (name === "vitest" || name === "jest") rest.push(`--testTimeout=${PATIENCE_MS}`);
  const [script] = TOOLS[name] ?? [];
  if (script === undefined) throw new Error(`the stage has no ${name}`);
  return run(process.execPath, [join(ROOT, script), ...rest]);
}

/** Nothing is fetched: what a page installs must be among what the stage has. */
function npm([command, ...args]) {
  if (command === "init") return run("npm", [command, ...args], { shell: false, env: realPath() });
  if (command === "ci") return 0;
  if (command === "test" || command === "run") return run("npm", [command, ...args], { env: realPath() });
  const names = args.filter((word) => !word.startsWith("-")).map((word) => word.replace(/(?<=.)@.*$/, ""));
  const lacking = names.filter((name) => !existsSync(join(STAGE, "node_modules", name)));
  if (lacking.length > 0) throw new Error(`the stage has no ${lacking.join(", ")}`);
  return 0;
}

/** `npm` itself, whose scripts find the stand-ins all the same: it puts node_modules/.bin before them. */
const realPath = () => ({
  ...process.env,
  PATH: process.env.PATH.split(":")
    .filter((folder) => folder !== join(STAGE, ".tools"))
    .join(":"),
});

/** `mvn test` without Maven's repository: the sources of src/test/java, by Debian's JUnit 5. */
function mvn() {
  const jars = "/usr/share/java";
  const classes = join(STAGE, "target", "test-classes");
  mkdirSync(classes, { recursive: true });
  const sources = readdirSync("src/test/java").map((name) => join("src/test/java", name));
  const compiled = spawnSync("javac", ["-cp", `${jars}/*`, "-d", classes, ...sources], { stdio: "inherit" });
  if (compiled.status !== 0) return 99;
  const launcher = "org.junit.platform.console.ConsoleLauncher";
  return run("java", [
    "-cp",
    `${jars}/*:${classes}`,
    launcher,
    "--scan-classpath",
    classes,
    "--disable-banner",
  ]);
}

/** `docker compose up` as far as it goes without Docker: the service `understudy`, on this machine. */
async function docker() {
  const { parse } = await import("yaml");
  const { understudy: service } = parse(readFileSync("compose.yaml", "utf8")).services;
  const args = service.command.slice(1).map((word) => (word === "/data" ? join(STAGE, "data") : word));
  const [variable, required] = Object.entries(service.environment)[0];
  if (!required.startsWith(`\${${variable}:?`) || !process.env[variable]) throw new Error(`no ${variable}`);
  return start(args);
}

const tools = { npx, npm, mvn, docker };
// Scripts of package.json call `understudy` and the like without `npx`.
const ended = await (tools[tool] ?? ((args) => npx([tool, ...args])))(given);
// Undefined where the command ran in this process, which ends as it does.
if (ended !== undefined) process.exitCode = ended;
