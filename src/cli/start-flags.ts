import type { Settings } from "../engine/contract/settings.ts";

export interface Flag {
  type: "string" | "number" | "boolean";
  array?: true;
  /** Bounds of a number in the configuration file. */
  minimum?: number;
  maximum?: number;
  describe: string;
}

/** The options of `start`: for yargs, for a plain `start` without yargs, and for the configuration file. */
export const START_FLAGS = {
  port: { type: "number", minimum: 0, maximum: 65535, describe: "Port; 0 picks a free one [default: 4747]" },
  host: { type: "string", describe: "Address to bind [default: 127.0.0.1]" },
  fixture: { type: "string", describe: "Initial data: name or file of a fixture [default: reference]" },
  scenario: { type: "string", array: true, describe: "Scenario (name or file) to switch on; repeatable" },
  scenarios: { type: "string", describe: "Folder of your own scenarios [default: ./scenarios]" },
  operations: {
    type: "string",
    array: true,
    describe: "File or folder (TypeScript, JavaScript) of operations of your own; repeatable",
  },
  openapi: {
    type: "string",
    array: true,
    describe: "OpenAPI document to serve too, or a file that binds one to collections; repeatable",
  },
  seed: { type: "number", minimum: 0, describe: "Seed of all generated ids and text [default: 1]" },
  clock: { type: "string", describe: "real, frozen, frozen@ISO, or xN [default: real]" },
  delay: { type: "string", describe: "Delay of every answer: 200ms, or percentiles such as 80ms/1s" },
  persist: {
    type: "string",
    describe: "Folder (or FILE.json) to save sandboxes in, so that they survive restarts",
  },
  durable: {
    type: "boolean",
    describe: "With --persist FOLDER: write each change to disk before answering",
  },
  store: { type: "string", describe: "With --shared: Redis of a fleet, such as redis://10.0.0.9:6379" },
  "node-url": { type: "string", describe: "With --store: address at which the other nodes reach this one" },
  shared: {
    type: "boolean",
    describe: "For a team: accepts any --host, requires a control token, sets limits",
  },
  "max-sandboxes": {
    type: "number",
    minimum: 1,
    describe: "With --shared: maximum number of sandboxes, in a fleet on all nodes together [default: 1000]",
  },
  https: { type: "boolean", describe: "Serve HTTPS, with a generated certificate for localhost" },
  cert: { type: "string", describe: "With --https: certificate (PEM) to use instead" },
  key: { type: "string", describe: "With --https: its private key (PEM)" },
  "public-url": {
    type: "string",
    describe: "Base of the URLs in answers, such as https://sandbox.example.test",
  },
  "trust-proxy": {
    type: "string",
    array: true,
    describe: "Address or CIDR of a proxy; URLs in answers follow its Forwarded or X-Forwarded-* headers",
  },
  "allow-host": {
    type: "string",
    array: true,
    describe: "Host name to accept for the control API, the console and browsers",
  },
  "allow-webhook": { type: "string", array: true, describe: "CIDR that webhooks may call in shared mode" },
  upstream: {
    type: "string",
    describe: "The real service's URL; gets the requests of paths that nothing here serves",
  },
  "upstream-header": {
    type: "string",
    array: true,
    describe:
      'Header of the requests to the upstream, such as "Authorization: Bearer KEY"; replaces the client\'s',
  },
  "allow-upstream": {
    type: "string",
    array: true,
    describe: "With --shared: CIDR of the upstream's addresses",
  },
  overrides: {
    type: "boolean",
    describe: "Accept faults in request headers such as X-Sandbox-Fault (--no-overrides: refuse them)",
  },
  config: {
    type: "string",
    describe: "File with these options and settings [default: understudy.config.yaml]",
  },
  watch: { type: "boolean", describe: "Reload files that change (--no-watch: do not)" },
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

/** The options as typed; omitted ones may come from the configuration file. */
export type StartFlags = { [Name in keyof Spec]?: ValueOf<Spec[Name]> } & { json: boolean };

/** The contents of a configuration file (interfaces 2). */
export type Configuration = Partial<Omit<StartFlags, "json" | "config">> & { settings?: Partial<Settings> };
