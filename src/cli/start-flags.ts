import type { Settings } from "../engine/contract/settings.ts";

export interface Flag {
  type: "string" | "number" | "boolean";
  array?: true;
  /** Bounds of a number in the configuration file; the start itself checks those of the command line. */
  minimum?: number;
  maximum?: number;
  describe: string;
}

const text = (describe: string) => ({ type: "string", describe }) as const;
const texts = (describe: string) => ({ type: "string", array: true, describe }) as const;
const flag = (describe: string) => ({ type: "boolean", describe }) as const;
const number = (describe: string, bounds: { minimum: number; maximum?: number }) =>
  ({ type: "number", ...bounds, describe }) as const;

export const CLOCK = "real, frozen, frozen@INSTANT, or xN (N times as fast)";

/**
 * The options of `start`: for yargs, for a plain `start` without yargs, and for the configuration file, from which an
 * omitted one may come. So yargs knows no defaults.
 */
export const START_FLAGS = {
  port: number("Port; 0 picks a free one [default: 4747]", { minimum: 0, maximum: 65535 }),
  host: text("Address to bind [default: 127.0.0.1]"),
  fixture: text("Initial data: name or file of a fixture [default: reference]"),
  scenario: texts("Scenario (name or file) to switch on; repeatable"),
  scenarios: text("Folder of your own scenarios [default: ./scenarios]"),
  operations: texts("File or folder (TypeScript, JavaScript) of operations of your own; repeatable"),
  openapi: texts("OpenAPI document to serve too, or a file that binds one to collections; repeatable"),
  seed: number("Seed of all generated ids and text [default: 1]", { minimum: 0 }),
  clock: text(`${CLOCK} [default: real]`),
  delay: text("Delay of every answer: 200ms, or percentiles such as 80ms/1s"),
  persist: text("Folder (or FILE.json) to save sandboxes in, so that they survive restarts"),
  durable: flag("With --persist DIR: write each change to disk before answering"),
  store: text("With --shared: Redis of a fleet, such as redis://10.0.0.9:6379"),
  "node-url": text("With --store: address at which the other nodes reach this one"),
  shared: flag("For a team: accepts any --host, requires a control token, sets limits"),
  "max-sandboxes": number(
    "With --shared: maximum number of sandboxes, in a fleet on all nodes together [default: 1000]",
    { minimum: 1 },
  ),
  https: flag("Serve HTTPS, with a generated certificate for localhost"),
  cert: text("With --https: certificate (PEM) to use instead"),
  key: text("With --https: its private key (PEM)"),
  "public-url": text("Base of the URLs in answers, such as https://sandbox.example.test"),
  "trust-proxy": texts(
    "Address or CIDR of a proxy; URLs in answers follow its Forwarded or X-Forwarded-* headers",
  ),
  "allow-host": texts("Host name to accept for the control API, the console and browsers"),
  "allow-webhook": texts("With --shared: CIDR that webhooks may call"),
  upstream: text("The real service's URL; gets the requests of paths that nothing here serves"),
  "upstream-header": texts(
    'Header of the requests to the upstream, such as "Authorization: Bearer KEY"; replaces the client\'s',
  ),
  "allow-upstream": texts("With --shared: CIDR of the upstream's addresses"),
  overrides: flag("Accept faults in request headers such as X-Sandbox-Fault (--no-overrides: refuse them)"),
  config: text("File with these options and settings [default: understudy.config.yaml]"),
  watch: flag("Reload files that change (--no-watch: do not)"),
  quiet: flag("Print nothing but failures"),
  "ready-file": text("Write {url, console, pid, token} here once ready"),
} as const satisfies Record<string, Flag>;

type Spec = typeof START_FLAGS;
type ValueOf<F extends Flag> = F extends { array: true }
  ? string[]
  : F["type"] extends "number"
    ? number
    : F["type"] extends "boolean"
      ? boolean
      : string;

/** The options as typed; omitted ones may come from the configuration file. */
export type StartFlags = { [Name in keyof Spec]?: ValueOf<Spec[Name]> } & { json: boolean };

/** The contents of a configuration file (interfaces.md 2). */
export type Configuration = Partial<Omit<StartFlags, "json" | "config">> & { settings?: Partial<Settings> };
