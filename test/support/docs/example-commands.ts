import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { parse } from "yaml";
import { runInProcess } from "../run-in-process.ts";
import { BackgroundProcesses } from "./background-processes.ts";
import { FAST_START } from "./java-options.ts";
import { ROOT } from "./pages.ts";
import { quote, type ToolCall, toFailure, toLine } from "./tool-stubs.ts";

/** For busy machines: by default, runners fail a test after five seconds, and a first test also starts the server. */
const PATIENCE_MS = 60_000;
/** Commands that read standard input, describe the process or run another command: each needs its own process. */
const OWN_PROCESS = new Set(["start", "mcp", "completion"]);
const RUNNERS: Readonly<Record<string, string>> = {
  vitest: "vitest/vitest.mjs",
  jest: "jest/bin/jest.js",
  msw: "msw/cli/index.js",
  playwright: "@playwright/test/cli.js",
  tsc: "typescript/bin/tsc",
  vite: "vite/bin/vite.js",
};
/** Tools that pages call, and tools that scripts of package.json call without `npx`. */
export const TOOLS = ["npx", "npm", "mvn", "docker", "understudy", "vitest", "playwright"];

export interface ProjectPaths {
  folder: string;
  ports: { server: string; listen: string; record: string };
  browser: string;
}

/**
 * Translates the commands of a page to shell scripts that run this build on free ports. Commands that run until
 * Ctrl-C (start, listen, record, --follow, --forward-to) continue in the background when they are up.
 */
export class ExampleCommands {
  /** Exit codes that the page states, by command without `npx`; other commands must exit with 0. */
  exitCodes: Readonly<Record<string, number>> = {};
  readonly background: BackgroundProcesses;
  private readonly paths: ProjectPaths;
  /**
   * While a suite runs in this process, commands of the suite need their own process: they would wait for the suite.
   */
  private isSuiteRunning = false;
  private readonly bin: string;

  constructor(paths: ProjectPaths) {
    this.paths = paths;
    this.bin = join(paths.folder, "node_modules/understudy-sandbox/bin/understudy.js");
    this.background = new BackgroundProcesses(paths.folder, this.bin);
  }

  async toScript(call: ToolCall): Promise<string> {
    switch (call.tool) {
      case "npx":
        return this.npx(call);
      case "npm":
        return this.npm(call);
      case "mvn":
        return this.mvn(call);
      case "docker":
        return this.docker(call);
      default:
        return this.npx({ ...call, args: [call.tool, ...call.args] });
    }
  }

  private async npx(call: ToolCall): Promise<string> {
    const [name = "", ...rest] = call.args.filter((word, index) => index > 0 || word !== "--no");
    if (name === "understudy") return this.understudy(rest, call);
    if (name === "playwright") return this.playwright(rest, call);
    if (name === "vitest" || name === "jest") rest.push(`--testTimeout=${PATIENCE_MS}`);
    return this.runner(name, rest, call);
  }

  private runner(name: string, args: readonly string[], call: ToolCall): string {
    const script = RUNNERS[name];
    if (script === undefined) throw new Error(`the example project has no ${name}`);
    return this.toExec([process.execPath, join(ROOT, "node_modules", script), ...args], call);
  }

  private async understudy(args: readonly string[], call: ToolCall): Promise<string> {
    const [command = "start", ...rest] = args;
    const { background, paths } = this;
    const url = `http://127.0.0.1:${paths.ports.server}`;
    const forwards = args.includes("--forward-to");
    if (forwards || args.includes("--follow")) {
      const isUp = (printed: string) => !forwards || printed.includes("They are signed with");
      return toPrint((await background.start([...args, "--url", url], call, isUp)).printed);
    }
    // A script with `--ready-file` waits for the file itself.
    if (command === "start" && !rest.includes("--ready-file"))
      return toPrint(await background.startServer(rest, call, paths.ports.server));
    if (command === "listen" || command === "record") {
      const port = paths.ports[command];
      const isUp = (printed: string) => printed.includes(`:${port}`);
      return toPrint((await background.start([...args, "--port", port], call, isUp)).printed);
    }
    // Uses the page's server, unless the command line or a suite names another.
    const env = { ...call.env, UNDERSTUDY_URL: call.env["UNDERSTUDY_URL"] || url };
    const isSuite = command === "suite";
    const runs = args.includes("--") && !isSuite;
    if (
      this.isSuiteRunning ||
      OWN_PROCESS.has(command) ||
      command.startsWith("-") ||
      runs ||
      args.includes("-")
    )
      return `export UNDERSTUDY_URL=${quote(env.UNDERSTUDY_URL)}\n${this.toExec([process.execPath, this.bin, ...args], call)}`;
    const run = () => runInProcess(args, { cwd: call.cwd, env });
    const { code, stdout, stderr } = await (isSuite ? this.runAsSuite(env, run) : run());
    const expected = this.getExpectedExit(call);
    const output = `printf %s ${quote(stdout)}\nprintf %s ${quote(stderr)} >&2\n`;
    return (
      output +
      (code === expected ? "exit 0\n" : toFailure(`${toLine(call)}: exit ${code}, not ${expected}`, 99))
    );
  }

  /** Removes the variables of this test run, since runners that the suite starts would think they belong to it. */
  private async runAsSuite<T>(env: Readonly<Record<string, string>>, run: () => Promise<T>): Promise<T> {
    const own = Object.entries(process.env).filter(([name]) => !Object.hasOwn(env, name));
    for (const [name] of own) delete process.env[name];
    this.isSuiteRunning = true;
    try {
      return await run();
    } finally {
      this.isSuiteRunning = false;
      Object.assign(process.env, Object.fromEntries(own));
    }
  }

  /** Runs Playwright with the Chromium of this machine. */
  private playwright(args: readonly string[], call: ToolCall): string {
    const { browser } = this.paths;
    if (args[0] === "install") return `exit ${browser === "" ? 99 : 0}\n`;
    const own = existsSync(join(call.cwd, "playwright.config.ts"))
      ? 'import own from "./playwright.config.ts";'
      : "const own = {};";
    const launchOptions = { executablePath: browser, args: ["--no-sandbox"] };
    writeFileSync(
      join(call.cwd, "example.config.ts"),
      `${own}\nexport default { ...own, timeout: ${PATIENCE_MS}, expect: { timeout: ${PATIENCE_MS} }, use: { ...own.use, launchOptions: ${JSON.stringify(launchOptions)} } };\n`,
    );
    return this.runner("playwright", [...args, "--config", "example.config.ts"], call);
  }

  /** Installs nothing: checks that the example project has the packages that a page installs. */
  private npm(call: ToolCall): string {
    const [command = "", ...args] = call.args;
    if (command === "ci") return "exit 0\n";
    if (command === "init" || command === "test" || command === "run") {
      // Runs the real npm. Its scripts find the stubs, since npm puts node_modules/.bin first in PATH.
      const path = call.env["PATH"]!.split(delimiter).filter(
        (one) => one !== join(this.paths.folder, ".tools"),
      );
      return `export PATH=${quote(path.join(delimiter))}\n${this.toExec(["npm", command, ...args], call)}`;
    }
    if (command === "pack") return "exit 0\n";
    const names = args
      .filter((word) => !word.startsWith("-"))
      // Take the package's name from a tarball's path.
      .map((word) => word.replace(/^.*\/([\w-]+)-\d[\w.]*\.tgz$/, "$1"))
      .map((word) => word.replace(/(?<=.)@.*$/, ""));
    const missing = names.filter((name) => !existsSync(join(this.paths.folder, "node_modules", name)));
    if (missing.length > 0) throw new Error(`the example project has no ${missing.join(", ")}`);
    return "exit 0\n";
  }

  /** Runs `mvn test` without Maven's repository: the sources of src/test/java, with Debian's JUnit 5. */
  private mvn(call: ToolCall): string {
    const jars = "/usr/share/java";
    const classes = join(this.paths.folder, "target", "test-classes");
    mkdirSync(classes, { recursive: true });
    const sources = readdirSync(join(call.cwd, "src/test/java")).map((name) => join("src/test/java", name));
    const compile = [
      "javac",
      ...FAST_START.map((flag) => `-J${flag}`),
      "-cp",
      `${jars}/*`,
      "-d",
      classes,
      ...sources,
    ];
    const launcher = "org.junit.platform.console.ConsoleLauncher";
    const test = [
      "java",
      ...FAST_START,
      "-cp",
      `${jars}/*:${classes}`,
      launcher,
      "--scan-classpath",
      classes,
    ];
    return `${toShellLine(compile)} || exit 99\n${this.toExec([...test, "--disable-banner"], call)}`;
  }

  /** Runs the service `understudy` of `docker compose up` on this machine, without Docker. */
  private async docker(call: ToolCall): Promise<string> {
    const { folder, ports } = this.paths;
    const { understudy: service } = parse(readFileSync(join(call.cwd, "compose.yaml"), "utf8")).services;
    const args = service.command
      .slice(1)
      .map((word: string) => (word === "/data" ? join(folder, "data") : word));
    const [variable, required] = Object.entries(service.environment as Record<string, string>)[0]!;
    if (!required.startsWith(`\${${variable}:?`) || !call.env[variable]) throw new Error(`no ${variable}`);
    return toPrint(await this.background.startServer(args, call, ports.server));
  }

  /** Runs a command in paths of the stub and exits with its code, or with 0 if the page states that it fails. */
  private toExec(words: readonly string[], call: ToolCall): string {
    const expected = this.getExpectedExit(call);
    if (expected === 0) return `exec ${toShellLine(words)}\n`;
    return `${toShellLine(words)}\ncode=$?\nif [ $code = ${expected} ]; then exit 0; fi\n${toFailure(`${toLine(call)}: not exit ${expected}`, 99)}`;
  }

  private getExpectedExit({ args }: ToolCall): number {
    return this.exitCodes[args.join(" ")] ?? 0;
  }
}

const toShellLine = (words: readonly string[]) => words.map(quote).join(" ");
const toPrint = (text: string) => `printf %s ${quote(text)}\nexit 0\n`;
