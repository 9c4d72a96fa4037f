import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { parse } from "yaml";
import { runInProcess } from "../run-in-process.ts";
import { BackgroundProcesses } from "./background-processes.ts";
import { FAST_START } from "./java-options.ts";
import { ROOT } from "./pages.ts";
import { quote, type ToolCall, toFailure, toLine } from "./tool-stubs.ts";

/** For machines under load: runners give a test five seconds, in which a first one also starts the server. */
const PATIENCE_MS = 60_000;
/** What shows another command's output, reads standard input or tells of the process itself has one of its own. */
const OWN_PROCESS = new Set(["start", "mcp", "completion"]);
const RUNNERS: Readonly<Record<string, string>> = {
  vitest: "vitest/vitest.mjs",
  jest: "jest/bin/jest.js",
  msw: "msw/cli/index.js",
  playwright: "@playwright/test/cli.js",
  tsc: "typescript/bin/tsc",
  vite: "vite/bin/vite.js",
};
/** The tools that pages call, and those that scripts of package.json call without `npx`. */
export const TOOLS = ["npx", "npm", "mvn", "docker", "understudy", "vitest", "playwright"];

export interface ProjectPaths {
  folder: string;
  ports: { server: string; listen: string; record: string };
  browser: string;
}

/**
 * What becomes of the commands of a page, in shell: the same commands, on this build and on free ports. What would run
 * until Ctrl-C (start, listen, record, --follow, --forward-to) goes on in the background once it is up.
 */
export class ExampleCommands {
  /** Exit codes that the page says of commands, which are written without `npx`; of the others it is 0. */
  exitCodes: Readonly<Record<string, number>> = {};
  readonly background: BackgroundProcesses;
  private readonly place: ProjectPaths;
  /** While a suite runs here: commands that it runs would wait for their turn, and it for them. */
  private isSuiteRunning = false;
  private readonly bin: string;

  constructor(place: ProjectPaths) {
    this.place = place;
    this.bin = join(place.folder, "node_modules/understudy-sandbox/bin/understudy.js");
    this.background = new BackgroundProcesses(place.folder, this.bin);
  }

  async toScript(asked: ToolCall): Promise<string> {
    switch (asked.tool) {
      case "npx":
        return this.npx(asked);
      case "npm":
        return this.npm(asked);
      case "mvn":
        return this.mvn(asked);
      case "docker":
        return this.docker(asked);
      default:
        return this.npx({ ...asked, args: [asked.tool, ...asked.args] });
    }
  }

  private async npx(asked: ToolCall): Promise<string> {
    const [name = "", ...rest] = asked.args.filter((word, index) => index > 0 || word !== "--no");
    if (name === "understudy") return this.understudy(rest, asked);
    if (name === "playwright") return this.playwright(rest, asked);
    if (name === "vitest" || name === "jest") rest.push(`--testTimeout=${PATIENCE_MS}`);
    return this.runner(name, rest, asked);
  }

  private runner(name: string, args: readonly string[], asked: ToolCall): string {
    const script = RUNNERS[name];
    if (script === undefined) throw new Error(`the stage has no ${name}`);
    return this.toExec([process.execPath, join(ROOT, "node_modules", script), ...args], asked);
  }

  private async understudy(args: readonly string[], asked: ToolCall): Promise<string> {
    const [command = "start", ...rest] = args;
    const { background, place } = this;
    const url = `http://127.0.0.1:${place.ports.server}`;
    const forwards = args.includes("--forward-to");
    if (forwards || args.includes("--follow")) {
      const isUp = (printed: string) => !forwards || printed.includes("They are signed with");
      return toPrint((await background.start([...args, "--url", url], asked, isUp)).printed);
    }
    // Who asks for a file to wait for waits itself.
    if (command === "start" && !rest.includes("--ready-file"))
      return toPrint(await background.startServer(rest, asked, place.ports.server));
    if (command === "listen" || command === "record") {
      const port = place.ports[command];
      const isUp = (printed: string) => printed.includes(`:${port}`);
      return toPrint((await background.start([...args, "--port", port], asked, isUp)).printed);
    }
    // On the page's server, unless the command line or a suite around it names another.
    const env = { ...asked.env, UNDERSTUDY_URL: asked.env["UNDERSTUDY_URL"] || url };
    const isSuite = command === "suite";
    const runs = args.includes("--") && !isSuite;
    if (
      this.isSuiteRunning ||
      OWN_PROCESS.has(command) ||
      command.startsWith("-") ||
      runs ||
      args.includes("-")
    )
      return `export UNDERSTUDY_URL=${quote(env.UNDERSTUDY_URL)}\n${this.toExec([process.execPath, this.bin, ...args], asked)}`;
    const run = () => runInProcess(args, { cwd: asked.cwd, env });
    const { code, stdout, stderr } = await (isSuite ? this.runAsSuite(env, run) : run());
    const expected = this.getExpectedExit(asked);
    const told = `printf %s ${quote(stdout)}\nprintf %s ${quote(stderr)} >&2\n`;
    return (
      told +
      (code === expected ? "exit 0\n" : toFailure(`${toLine(asked)}: exit ${code}, not ${expected}`, 99))
    );
  }

  /** Without variables of this very run: runners that the suite starts would take themselves for a part of it. */
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

  /** Playwright with the Chromium of this machine. */
  private playwright(args: readonly string[], asked: ToolCall): string {
    const { browser } = this.place;
    if (args[0] === "install") return `exit ${browser === "" ? 99 : 0}\n`;
    const own = existsSync(join(asked.cwd, "playwright.config.ts"))
      ? 'import own from "./playwright.config.ts";'
      : "const own = {};";
    const launchOptions = { executablePath: browser, args: ["--no-sandbox"] };
    writeFileSync(
      join(asked.cwd, "stage.config.ts"),
      `${own}\nexport default { ...own, timeout: ${PATIENCE_MS}, expect: { timeout: ${PATIENCE_MS} }, use: { ...own.use, launchOptions: ${JSON.stringify(launchOptions)} } };\n`,
    );
    return this.runner("playwright", [...args, "--config", "stage.config.ts"], asked);
  }

  /** Nothing is fetched: what a page installs must be among what the stage has. */
  private npm(asked: ToolCall): string {
    const [command = "", ...args] = asked.args;
    if (command === "ci") return "exit 0\n";
    if (command === "init" || command === "test" || command === "run") {
      // npm itself, whose scripts find the stand-ins all the same: it puts node_modules/.bin before them.
      const path = asked.env["PATH"]!.split(delimiter).filter(
        (one) => one !== join(this.place.folder, ".tools"),
      );
      return `export PATH=${quote(path.join(delimiter))}\n${this.toExec(["npm", command, ...args], asked)}`;
    }
    if (command === "pack") return "exit 0\n";
    const names = args
      .filter((word) => !word.startsWith("-"))
      // A tarball by its path is the package of its name.
      .map((word) => word.replace(/^.*\/([\w-]+)-\d[\w.]*\.tgz$/, "$1"))
      .map((word) => word.replace(/(?<=.)@.*$/, ""));
    const lacking = names.filter((name) => !existsSync(join(this.place.folder, "node_modules", name)));
    if (lacking.length > 0) throw new Error(`the stage has no ${lacking.join(", ")}`);
    return "exit 0\n";
  }

  /** `mvn test` without Maven's repository: the sources of src/test/java, by Debian's JUnit 5. */
  private mvn(asked: ToolCall): string {
    const jars = "/usr/share/java";
    const classes = join(this.place.folder, "target", "test-classes");
    mkdirSync(classes, { recursive: true });
    const sources = readdirSync(join(asked.cwd, "src/test/java")).map((name) => join("src/test/java", name));
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
    return `${toShellLine(compile)} || exit 99\n${this.toExec([...test, "--disable-banner"], asked)}`;
  }

  /** `docker compose up` as far as it goes without Docker: the service `understudy`, on this machine. */
  private async docker(asked: ToolCall): Promise<string> {
    const { folder, ports } = this.place;
    const { understudy: service } = parse(readFileSync(join(asked.cwd, "compose.yaml"), "utf8")).services;
    const args = service.command
      .slice(1)
      .map((word: string) => (word === "/data" ? join(folder, "data") : word));
    const [variable, required] = Object.entries(service.environment as Record<string, string>)[0]!;
    if (!required.startsWith(`\${${variable}:?`) || !asked.env[variable]) throw new Error(`no ${variable}`);
    return toPrint(await this.background.startServer(args, asked, ports.server));
  }

  /** In place of the stand-in, which ends as it does; or with 0 where the page says that this one fails. */
  private toExec(words: readonly string[], asked: ToolCall): string {
    const expected = this.getExpectedExit(asked);
    if (expected === 0) return `exec ${toShellLine(words)}\n`;
    return `${toShellLine(words)}\ncode=$?\nif [ $code = ${expected} ]; then exit 0; fi\n${toFailure(`${toLine(asked)}: not exit ${expected}`, 99)}`;
  }

  private getExpectedExit({ args }: ToolCall): number {
    return this.exitCodes[args.join(" ")] ?? 0;
  }
}

const toShellLine = (words: readonly string[]) => words.map(quote).join(" ");
const toPrint = (text: string) => `printf %s ${quote(text)}\nexit 0\n`;
