import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import Type from "typebox";
import type { Argv } from "yargs";
import { Settings } from "../contract/settings.ts";
import { checkDocument } from "../documents/check-document.ts";
import { DocumentError } from "../documents/document-error.ts";
import { parseInstant } from "../documents/instant.ts";
import { readDocument } from "../documents/read-document.ts";
import { validatorOf } from "../http/validate.ts";
import type { ClockSetting } from "../sandbox/registry.ts";
import type { UnderstudyOptions } from "../understudy.ts";
import { rateOf } from "./commands/clock.ts";
import { UsageError } from "./failure.ts";

/** The options of `start`, as typed; those left out may come from the configuration file. */
export interface StartFlags {
  port: number | undefined;
  host: string | undefined;
  fixture: string | undefined;
  scenario: string[] | undefined;
  scenarios: string | undefined;
  seed: number | undefined;
  clock: string | undefined;
  persist: string | undefined;
  durable: boolean | undefined;
  shared: boolean | undefined;
  "allow-host": string[] | undefined;
  "allow-webhook": string[] | undefined;
  config: string | undefined;
  watch: boolean | undefined;
  quiet: boolean | undefined;
  "ready-file": string | undefined;
  json: boolean;
}

export interface StartOptions {
  port: number;
  host: string;
  readyFile: string | undefined;
  server: UnderstudyOptions;
}

export function startFlags(argv: Argv): Argv<StartFlags> {
  return argv
    .option("port", { type: "number", describe: "Port; 0 picks a free one [default: 4747]" })
    .option("host", { type: "string", describe: "Address to bind [default: 127.0.0.1]" })
    .option("fixture", {
      type: "string",
      describe: "The world: a fixture's name or file [default: reference]",
    })
    .option("scenario", {
      type: "string",
      array: true,
      requiresArg: true,
      describe: "Scenario (name or file) to switch on; repeatable",
    })
    .option("scenarios", { type: "string", describe: "Folder of your own scenarios [default: ./scenarios]" })
    .option("seed", { type: "number", describe: "Seed of everything generated [default: 1]" })
    .option("clock", { type: "string", describe: "real, frozen, frozen@ISO, or xN [default: real]" })
    .option("persist", { type: "string", describe: "Folder in which worlds are kept between starts" })
    .option("durable", { type: "boolean", describe: "Every acknowledged write is on disk before its answer" })
    .option("shared", { type: "boolean", describe: "For a team: any address, a control token, limits" })
    .option("allow-host", {
      type: "string",
      array: true,
      requiresArg: true,
      describe: "Host name to accept on the control API and console",
    })
    .option("allow-webhook", {
      type: "string",
      array: true,
      requiresArg: true,
      describe: "CIDR that webhooks may call in shared mode",
    })
    .option("config", {
      type: "string",
      describe: "File with these options and settings [default: understudy.config.yaml]",
    })
    .option("watch", {
      type: "boolean",
      describe: "Reload fixture and scenario files that change (--no-watch to stop)",
    })
    .option("quiet", { type: "boolean", describe: "Print nothing but failures" })
    .option("ready-file", {
      type: "string",
      describe: "Write {url, console, pid, token} here once ready",
    }) as Argv<StartFlags>;
}

const Configuration = Type.Partial(
  Type.Object(
    {
      port: Type.Integer({ minimum: 0, maximum: 65535 }),
      host: Type.String({ minLength: 1 }),
      fixture: Type.String({ minLength: 1 }),
      scenario: Type.Array(Type.String()),
      scenarios: Type.String(),
      seed: Type.Integer(),
      clock: Type.String(),
      persist: Type.String(),
      durable: Type.Boolean(),
      shared: Type.Boolean(),
      "allow-host": Type.Array(Type.String()),
      "allow-webhook": Type.Array(Type.String()),
      watch: Type.Boolean(),
      quiet: Type.Boolean(),
      "ready-file": Type.String(),
      settings: Type.Partial(Settings, { additionalProperties: false }),
    },
    { additionalProperties: false },
  ),
  { additionalProperties: false },
);
type Configuration = Partial<Omit<StartFlags, "json" | "config">> & { settings?: Partial<Settings> };

const DEFAULT_CONFIG = "understudy.config.yaml";
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/;

/**
 * Flags over the configuration file over the defaults.
 * @throws UsageError, DocumentError
 */
export async function readStartOptions(flags: StartFlags): Promise<StartOptions> {
  const { settings, ...file } = readConfiguration(flags.config);
  const given = Object.fromEntries(
    Object.entries(flags).filter(([, value]) => value !== undefined),
  ) as Partial<StartFlags>;
  const all: Partial<StartFlags> = { ...file, ...given };
  const host = all.host ?? "127.0.0.1";
  const port = all.port ?? 4747;
  if (!Number.isInteger(port) || port < 0 || port > 65535)
    throw new UsageError(`--port takes 0 to 65535, not ${port}`);
  if (all.seed !== undefined && !Number.isSafeInteger(all.seed))
    throw new UsageError("--seed takes a whole number");
  if (!all.shared && !LOOPBACK.test(host)) {
    throw new UsageError(
      `--host ${host} is not loopback; other machines may only reach a server started with --shared`,
    );
  }
  if (all.durable && all.persist === undefined) throw new UsageError("--durable needs --persist DIR");
  return {
    port,
    host: host === "[::1]" ? "::1" : host,
    readyFile: all["ready-file"],
    server: {
      fixture: all.fixture ?? "reference",
      seed: all.seed,
      clock: all.clock === undefined ? undefined : readClock(all.clock),
      settings,
      scenarios: all.scenario,
      scenariosFolder: all.scenarios ?? (existsSync("scenarios") ? "scenarios" : undefined),
      persist: all.persist === undefined ? undefined : { folder: all.persist, durable: all.durable === true },
      shared: all.shared
        ? { token: process.env["UNDERSTUDY_TOKEN"] || randomBytes(24).toString("base64url") }
        : undefined,
      allowHosts: all["allow-host"],
      allowWebhooks: all["allow-webhook"],
      watch: all.watch !== false,
    },
  };
}

/** `real`, `frozen`, `frozen@ISO`, `xN`. @throws UsageError */
export function readClock(text: string): ClockSetting {
  if (text === "real") return { mode: "real" };
  if (text === "frozen") return { mode: "frozen" };
  if (text.startsWith("frozen@")) {
    const now = parseInstant(text.slice("frozen@".length));
    if (now === undefined) throw new UsageError(`--clock: "${text.slice(7)}" is no ISO 8601 instant`);
    return { mode: "frozen", now };
  }
  if (text.startsWith("x")) return { mode: "scaled", rate: rateOf(text) };
  throw new UsageError(`--clock takes real, frozen, frozen@2026-03-15T12:00:00Z or x60, not "${text}"`);
}

function readConfiguration(named: string | undefined): Configuration {
  const file = named ?? (existsSync(DEFAULT_CONFIG) ? DEFAULT_CONFIG : undefined);
  if (file === undefined) return {};
  const document = readDocument(readFileSync(file, "utf8"), { file });
  const problems = checkDocument(document, validatorOf(Configuration));
  if (problems.length > 0) throw new DocumentError(problems, document.text);
  return (document.value ?? {}) as Configuration;
}
