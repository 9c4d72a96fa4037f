import { parseArgs } from "node:util";
import type { Settings } from "../engine/contract/settings.ts";

interface Flag {
  type: "string" | "number" | "boolean";
  array?: true;
  describe: string;
}

/** The options of `start`, for yargs and for the short way around it. */
export const START_FLAGS = {
  port: { type: "number", describe: "Port; 0 picks a free one [default: 4747]" },
  host: { type: "string", describe: "Address to bind [default: 127.0.0.1]" },
  fixture: { type: "string", describe: "Initial data: name or file of a fixture [default: reference]" },
  scenario: { type: "string", array: true, describe: "Scenario (name or file) to switch on; repeatable" },
  scenarios: { type: "string", describe: "Folder of your own scenarios [default: ./scenarios]" },
  seed: { type: "number", describe: "Seed of all generated ids and text [default: 1]" },
  clock: { type: "string", describe: "real, frozen, frozen@ISO, or xN [default: real]" },
  delay: { type: "string", describe: "Delay of every answer: 200ms, or percentiles such as 80ms/1s" },
  persist: { type: "string", describe: "Folder (or FILE.json) that keeps sandboxes between starts" },
  durable: {
    type: "boolean",
    describe: "With --persist FOLDER: write each change to disk before answering",
  },
  store: { type: "string", describe: "With --shared: Redis of a fleet, such as redis://10.0.0.9:6379" },
  "node-url": { type: "string", describe: "With --store: address at which the other nodes reach this one" },
  shared: { type: "boolean", describe: "For a team: any address, a control token, limits" },
  "max-sandboxes": {
    type: "number",
    describe: "With --shared: maximum number of sandboxes, for a fleet of all its nodes [default: 1000]",
  },
  "allow-host": {
    type: "string",
    array: true,
    describe: "Host name to accept on the control API and console, and of browsers",
  },
  "allow-webhook": { type: "string", array: true, describe: "CIDR that webhooks may call in shared mode" },
  overrides: {
    type: "boolean",
    describe:
      "Requests may bring faults of their own, X-Sandbox-Fault and the like (--no-overrides: may not)",
  },
  config: {
    type: "string",
    describe: "File with these options and settings [default: understudy.config.yaml]",
  },
  watch: { type: "boolean", describe: "Reload fixture and scenario files that change (--no-watch: do not)" },
  quiet: { type: "boolean", describe: "Print nothing but failures" },
  "ready-file": { type: "string", describe: "Write {url, console, pid, token} here once ready" },
} as const satisfies Record<string, Flag>;

type Spec = typeof START_FLAGS;
type ValueOf<F extends Flag> = F extends { array: true }
  ? string[]
  : F["type"] extends "number"
    ? number
    : F["type"] extends "boolean"
      ? boolean
      : string;

/** As typed; those left out may come from the configuration file. */
export type StartFlags = { [Name in keyof Spec]?: ValueOf<Spec[Name]> } & { json: boolean };

/** The contents of a configuration file (interfaces 2). */
export type Configuration = Partial<Omit<StartFlags, "json" | "config">> & { settings?: Partial<Settings> };

const PLAIN_NUMBER = /^-?\d+(\.\d+)?$/;

/**
 * The flags of a `start` that is written plainly; undefined for other commands, and for whatever has to be
 * explained: help, an unknown option, a value that is missing.
 */
export function plainStartFlags(words: readonly string[]): StartFlags | undefined {
  if (words[0] !== undefined && words[0] !== "start" && !words[0].startsWith("-")) return undefined;
  const options = Object.entries(START_FLAGS as Record<string, Flag>).map(([name, { type, array }]) => [
    name,
    { type: type === "boolean" ? ("boolean" as const) : ("string" as const), multiple: array === true },
  ]);
  let parsed: { values: Record<string, unknown>; tokens: readonly { kind: string; name?: string }[] };
  try {
    parsed = parseArgs({
      args: words.filter((word, place) => place > 0 || word !== "start"),
      options: { ...Object.fromEntries(options), json: { type: "boolean" } },
      allowNegative: true,
      tokens: true,
    } as Parameters<typeof parseArgs>[0] & { tokens: true });
  } catch {
    return undefined;
  }
  const flags: Record<string, unknown> = { json: false };
  for (const [name, value] of Object.entries(parsed.values)) {
    const flag = (START_FLAGS as Record<string, Flag>)[name];
    const times = parsed.tokens.filter((token) => token.name === name).length;
    if (value === "" || (times > 1 && flag?.array !== true)) return undefined;
    if (flag?.type === "number" && !PLAIN_NUMBER.test(value as string)) return undefined;
    flags[name] = flag?.type === "number" ? Number(value) : value;
  }
  return flags as StartFlags;
}
