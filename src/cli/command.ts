import type { CommandModule, InferredOptionTypes, Options } from "yargs";
import { connect, getDefaultUrl, type UnderstudyClient } from "../client/connect.ts";
import { ControlError, findNamedSandbox } from "../client/http.ts";
import type { SandboxClient } from "../client/sandbox.ts";
import type { FixtureInput } from "../client/types.ts";
import { isPath } from "../documents/files.ts";
import { readHttpUrl } from "../engine/contract/http-url.ts";
import { CheckFailed, EXIT_FAILED, report, UsageError } from "./failure.ts";
import { print, printStyled } from "./process.ts";

/** An option that is off unless it is given. */
export const flag = (describe: string) => ({ type: "boolean", default: false, describe }) as const;

export const text = <const O extends Options = object>(describe: string, more?: O) =>
  ({ type: "string", requiresArg: true, describe, ...more }) as { type: "string" } & O;

/** An option that may be given several times. */
export const texts = <const O extends Options = object>(describe: string, more?: O) =>
  ({ type: "string", array: true, requiresArg: true, describe, ...more }) as {
    type: "string";
    array: true;
  } & O;

export const number = <const O extends Options = object>(describe: string, more?: O) =>
  ({ type: "number", requiresArg: true, describe, ...more }) as { type: "number" } & O;

export const choice = <const C extends string, const O extends Options = object>(
  choices: readonly C[],
  describe: string,
  more?: O,
) => ({ choices, describe, ...more }) as { choices: readonly C[] } & O;

export const FORCE = { force: flag("Replace a file that exists") };
/** For commands without a server that read files which may name own operations. */
export const OWN_FILES = {
  operations: texts("Files or folders of your own operations"),
  openapi: texts("OpenAPI documents, or files that bind them to collections"),
};
export const REPORT = {
  report: texts("Reports to write: junit=FILE, html=FILE; repeatable or comma-separated"),
};

/** The arguments that a command line names: `<name>`, `[name]`, `<names..>` or `[names..]`. */
type Arguments<Line extends string> = Line extends `${infer First} ${infer Rest}`
  ? Arguments<First> & Arguments<Rest>
  : Line extends `<${infer Name}..>` | `[${infer Name}..]`
    ? { [K in Name]: string[] }
    : Line extends `<${infer Name}>`
      ? { [K in Name]: string }
      : Line extends `[${infer Name}]`
        ? { [K in Name]?: string }
        : object;

/** The output of a command: the value with `--json`, otherwise the text. A failed command exits with 1. */
export interface Result {
  value: unknown;
  text: string;
  /** The text has colours; the code that made it has escaped all other control characters. */
  styled?: true;
  /** A reason is also printed on standard error. */
  failed?: boolean | string;
  /** Writes the reports; called when the result has been printed, so that a full disk does not lose it. */
  writeReports?: () => void;
}

// biome-ignore lint/suspicious/noConfusingVoidType: a command that prints as it goes returns nothing
type CommandOutcome = Result | void;

interface Declaration<
  Line extends string,
  O extends Record<string, Options>,
  ParsedArguments,
  Client extends unknown[],
> {
  /** In the notation of yargs: `export <name> <file>`. */
  command: Line;
  describe: string;
  /** Help for arguments that do not explain themselves. */
  args?: { [K in keyof Arguments<Line>]?: string };
  options?: O;
  /** Returns the option or argument for a field of the call, which the server's refusal names: `--as` for `principal`. */
  toOptionName?(inputField: string): string | undefined;
  examples?: readonly (readonly [line: string, says: string])[];
  /** Runs before the server is called. @throws UsageError */
  check?(parsed: ParsedArguments): void;
  run(parsed: ParsedArguments, ...client: Client): CommandOutcome | Promise<CommandOutcome>;
}

/** The parsed options of a command. */
export type ParsedOptions<O extends Record<string, Options>> = InferredOptionTypes<O> & {
  json: boolean;
  "--"?: string[];
};

type Parsed<Line extends string, O extends Record<string, Options>> = Arguments<Line> & ParsedOptions<O>;

/** The running server and sandbox that a command acts on (interfaces.md 2). */
export interface Target {
  url: string;
  sandbox: string;
  token: string | undefined;
  json: boolean;
}

const getDefaultSandbox = () => process.env["UNDERSTUDY_SANDBOX"] || "default";

const targetOptions = () => ({
  url: text("The server's address (or UNDERSTUDY_URL)", { default: getDefaultUrl() }),
  // Without a default, since a URL such as `…/_s/NAME` may name the sandbox.
  sandbox: text("The sandbox to act on (or UNDERSTUDY_SANDBOX)", {
    defaultDescription: JSON.stringify(getDefaultSandbox()),
  }),
  token: text("Control token of a shared server (or UNDERSTUDY_TOKEN)"),
});

/** For commands that act on the whole server: the help does not show `--sandbox`, and its use is refused. */
export const NO_SANDBOX = { sandbox: { type: "string", hidden: true } } as const;

/** The options of the target whose values differ from the defaults. */
export function listGivenTargetOptions(target: Target): string[] {
  const options: Record<string, Options> = targetOptions();
  return (["url", "sandbox", "token"] as const)
    .filter((name) => target[name] !== options[name]!.default)
    .map((name) => `--${name}`);
}

type NoOptions = Record<never, Options>;

/** A command that needs no running server. */
export function command<const Line extends string, const O extends Record<string, Options> = NoOptions>(
  declaration: Declaration<Line, O, Parsed<Line, O>, []>,
): CommandModule {
  return toModule(declaration, () => ({}), declaration.run);
}

export function serverCommand<const Line extends string, const O extends Record<string, Options> = NoOptions>(
  declaration: Declaration<Line, O, Parsed<Line, O> & Target, [client: UnderstudyClient]>,
): CommandModule {
  return toModule(declaration, targetOptions, (parsed) => declaration.run(parsed, connectTo(parsed)));
}

export function sandboxCommand<
  const Line extends string,
  const O extends Record<string, Options> = NoOptions,
>(declaration: Declaration<Line, O, Parsed<Line, O> & Target, [sandbox: SandboxClient]>): CommandModule {
  return toModule(declaration, targetOptions, async (parsed) =>
    declaration.run(parsed, await openSandbox(parsed)),
  );
}

function toModule(
  // biome-ignore lint/suspicious/noExplicitAny: a declaration of any command
  declaration: Declaration<any, any, any, any>,
  commonOptions: () => object,
  // biome-ignore lint/suspicious/noExplicitAny: what its command line and options say
  run: (parsed: any) => CommandOutcome | Promise<CommandOutcome>,
): CommandModule {
  const {
    command: line,
    describe,
    args = {},
    options = {},
    examples = [],
    check,
    toOptionName,
  } = declaration;
  /** The server names a field of its request; the message names what the user typed. */
  const rethrowWithOption = (error: unknown): never => {
    if (!(error instanceof ControlError)) throw error;
    const { field = "", detail } = error.problem;
    if (field === "" || !detail.startsWith(field)) throw error;
    const option = field.replaceAll("_", "-").replace(/\[\d+\]$/, "");
    const name = toOptionName?.(field) ?? (Object.hasOwn(options, option) ? `--${option}` : field);
    throw new ControlError(error.status, { ...error.problem, detail: name + detail.slice(field.length) });
  };
  const module: CommandModule<object, { json: boolean }> = {
    command: line,
    describe,
    builder(argv) {
      for (const [, name, many] of String(line).matchAll(/[<[](\w+)(\.\.)?[>\]]/g))
        argv.positional(name!, {
          type: "string",
          array: many !== undefined,
          describe: (args as Record<string, string>)[name!],
          // Otherwise the help shows the default `[]`. yargs then sets an omitted list to `[undefined]`.
          default: undefined,
          ...(many && { coerce: (values: unknown[]) => values.filter((value) => value !== undefined) }),
        });
      argv.options({ ...commonOptions(), ...options });
      for (const [example, says] of examples) argv.example(example, says);
      return argv as never;
    },
    async handler(parsed) {
      for (const [name, { hidden }] of Object.entries(options as Record<string, Options>))
        if (hidden && name in parsed)
          throw new UsageError(`--${name} has no effect on this command; leave it out`);
      check?.(parsed);
      const target: Partial<Target> = parsed;
      if ("sandbox" in commonOptions())
        target.sandbox ??= findNamedSandbox(target.url!) ?? getDefaultSandbox();
      const result = await Promise.resolve(run(parsed)).catch(rethrowWithOption);
      if (!result) return;
      if (result.styled && !parsed.json) printStyled(result.text);
      else print(parsed.json, result.value, result.text);
      if (result.failed) process.exitCode = EXIT_FAILED;
      if (typeof result.failed === "string" && result.failed !== "")
        report(new CheckFailed(result.failed), parsed.json);
      result.writeReports?.();
    },
  };
  return module as CommandModule;
}

/** A command with actions, such as `snapshot save`. */
export function group(
  name: string,
  describe: string,
  actions: readonly CommandModule[],
  example: readonly [line: string, says: string],
): CommandModule {
  const names = actions.map(({ command: line }) => String(line).split(" ")[0]!);
  const nameList = names.join(", ").replace(/, (?=[^,]+$)/, " or ");
  return {
    command: name,
    describe,
    builder: (argv) =>
      actions
        .reduce((built, action) => built.command(action), argv)
        .demandCommand(1, `${name} needs an action: ${nameList}`)
        .example(...example),
    handler: () => {},
  };
}

/** Without `url`, uses that of UNDERSTUDY_URL, or a local server. */
export function connectTo({ url, token }: Partial<Pick<Target, "url" | "token">>): UnderstudyClient {
  return connect(url, { token });
}

/** @throws UnreachableError if no Understudy answers; ControlError if it has no such sandbox */
export async function openSandbox(target: Target): Promise<SandboxClient> {
  const client = connectTo(target);
  await client.health();
  return client.open(target.sandbox);
}

/**
 * The fixture of `--fixture` for a server: a file is read here, with everything it extends, since the control API reads
 * no files (interfaces.md 4); a name is sent as it is.
 * @throws DocumentError
 */
export async function readFixture(fixture: string | undefined): Promise<FixtureInput | undefined> {
  if (fixture === undefined || !isPath(fixture)) return fixture as FixtureInput | undefined;
  const [{ FixtureLibrary }, { RESOURCES }] = await Promise.all([
    import("../documents/fixture-library.ts"),
    import("../engine/resources/index.ts"),
  ]);
  return new FixtureLibrary({ resources: RESOURCES }).loadData(fixture);
}

/** Ids that were given one by one, or separated by commas. */
export function splitIds(values: readonly string[] | undefined): string[] | undefined {
  return values?.flatMap((ids) => ids.split(",")).map((id) => id.trim());
}

/** A value from the command line: parsed as JSON if possible, otherwise the text itself. */
function parseTypedValue(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

/** Options of the form `name=value`; undefined if none was given. @throws UsageError */
export function readKeyedValues(
  option: string,
  pairs: readonly string[] | undefined,
  form = "name=value",
): Record<string, string> | undefined {
  if (pairs === undefined) return undefined;
  const values = new Map<string, string>();
  for (const pair of pairs) {
    const equals = pair.indexOf("=");
    if (equals < 1) throw new UsageError(`${option} takes ${form}, not ${JSON.stringify(pair.slice(0, 80))}`);
    const name = pair.slice(0, equals);
    if (values.has(name)) throw new UsageError(`${option} names ${name} more than once`);
    values.set(name, pair.slice(equals + 1));
  }
  return Object.fromEntries(values);
}

/** The same with values that are JSON if possible. @throws UsageError */
export function readTypedValues(option: string, pairs: readonly string[] = [], form?: string) {
  const values = Object.entries(readKeyedValues(option, pairs, form)!);
  return Object.fromEntries(values.map(([name, value]) => [name, parseTypedValue(value)]));
}

/** The address as it was given, or completed if its scheme or host is missing. @throws UsageError */
export function readUrlOption(option: string, address: string): string {
  const url = readHttpUrl(address);
  if (typeof url === "string") throw new UsageError(`${option} ${url}`);
  return /^https?:/i.test(address) ? address : url.href;
}

/** The milliseconds of `--timeout`, which takes seconds. @throws UsageError */
export function toTimeoutMs(seconds: number): number {
  if (!(seconds > 0)) throw new UsageError(`--timeout takes seconds, more than 0, not ${seconds}`);
  return seconds * 1000;
}

/** @throws UsageError */
export function requirePort(port: number): void {
  if (!Number.isInteger(port) || port < 0 || port > 65535)
    throw new UsageError(`--port takes a whole number from 0 to 65535, not ${port}`);
}

/** The address of a server, without slashes at its end. @throws UsageError */
export function readBaseUrl(option: string, address: string, example: string): string {
  const url = readHttpUrl(address);
  if (typeof url === "string" || url.search !== "" || url.hash !== "")
    throw new UsageError(`${option} takes an address as in ${example}, not "${address}"`);
  const base = url.href.replace(/\/+$/, "");
  const root = base.replace(/\/v\d+$/, "");
  if (root !== base) throw new UsageError(`${option} takes an address without the version: ${root}`);
  return base;
}
