import { randomBytes } from "node:crypto";
import { lstatSync } from "node:fs";
import { isIP, isIPv6 } from "node:net";
import { inspect } from "node:util";
import type { ClockChange } from "../client/types.ts";
import { MAX_RATE } from "../control/clock-input.ts";
import { findTokenProblem, parseAllowed } from "../control/guard.ts";
import type { UnderstudyOptions } from "../control/understudy-options.ts";
import { isFolder } from "../documents/files.ts";
import type { OwnFiles } from "../documents/watch-documents.ts";
import { parseDuration } from "../engine/contract/duration.ts";
import { isLoopback, readHttpUrl } from "../engine/contract/http-url.ts";
import { parseInstant } from "../engine/contract/instant.ts";
import { findDelayProblem } from "../engine/faults/effects/delay.ts";
import type { ClockSetting } from "../engine/sandbox/sandbox-value.ts";
import { toBlockList } from "../hosts/node/sites.ts";
import type { UsedCertificate } from "./certificate.ts";
import { readBaseUrl, requirePort } from "./command.ts";
import type { LoadedConfiguration } from "./configuration.ts";
import { runOrThrowUsageError, UsageError } from "./failure.ts";
import { printError } from "./process.ts";
import type { Configuration, StartFlags } from "./start-flags.ts";
import { readUpstream } from "./upstream-options.ts";
import { requireExpandedHome, requireReadyFile } from "./write-files.ts";

export interface StartOptions {
  port: number;
  host: string;
  readyFile: string | undefined;
  quiet: boolean;
  watch: boolean;
  /** The files of `--operations`, then those of `--openapi`. */
  ownFiles: readonly OwnFiles[];
  server: UnderstudyOptions & { certificate?: UsedCertificate | undefined };
  /** Adds the place in the configuration file to an error about one of its options. */
  locate(error: unknown): unknown;
}

const DEFAULT_CONFIGS = ["understudy.config.yaml", "understudy.config.yml"];
/** Addresses that mean every address of the machine; no client can call them. */
const EVERY_ADDRESS = /^[0:.]+$/;

/**
 * Flags take precedence over the configuration file, and that over the defaults.
 * @param opensFile for `understudy open`, which uses only `operations` and `openapi` of the configuration file: the opened
 * world must not be saved in the project's folder
 * @throws UsageError, DocumentError
 */
export async function readStartOptions(flags: StartFlags, opensFile = false): Promise<StartOptions> {
  const { options: configured, settings: configuredSettings, locate } = await loadConfiguration(flags.config);
  const { operations, openapi } = configured;
  const options = opensFile ? { operations, openapi } : configured;
  const settings = opensFile ? undefined : configuredSettings;
  const givenFlags = Object.fromEntries(
    Object.entries(flags).filter(([, value]) => value !== undefined),
  ) as StartFlags;
  const all = { ...options, ...givenFlags };
  const locateOption = (error: unknown) => locate(error, givenFlags);
  const startOptions = await toStartOptions(all, settings).catch((error) => {
    throw locateOption(error);
  });
  return { ...startOptions, locate: locateOption };
}

async function toStartOptions(
  all: StartFlags,
  settings: Configuration["settings"],
): Promise<Omit<StartOptions, "locate">> {
  const host = (all.host ?? "127.0.0.1").replace(/^\[(.*)\]$/, "$1");
  const port = all.port ?? 4747;
  requirePort(port);
  const { seed } = all;
  if (seed !== undefined && (!Number.isSafeInteger(seed) || seed < 0))
    throw new UsageError("--seed takes a whole number from 0");
  if (!all.shared && !isLocal(host)) {
    throw new UsageError(
      `--host ${host} is not loopback; other machines may only reach a server started with --shared`,
    );
  }
  const readyFile = all["ready-file"];
  if (readyFile !== undefined) requireReadyFile(readyFile);
  for (const flag of ["allow-webhook", "allow-upstream"] as const) requireRanges(flag, all);
  const trustProxy = (all["trust-proxy"] ?? []).flatMap((list) => list.split(",").map((one) => one.trim()));
  runOrThrowUsageError("--allow-host", () => all["allow-host"]?.forEach(parseAllowed));
  runOrThrowUsageError("--trust-proxy", () => toBlockList(trustProxy));
  const { "max-sandboxes": maxSandboxes, "public-url": publicUrl } = all;
  if (maxSandboxes !== undefined) requireMaxSandboxes(maxSandboxes, all.shared);
  const { ownFiles, operations } = await openOwnOperations(all);
  return {
    port,
    host,
    readyFile,
    quiet: all.quiet === true,
    watch: all.watch !== false,
    ownFiles,
    server: {
      operations,
      fixture: all.fixture ?? "reference",
      seed,
      clock: all.clock === undefined ? undefined : readClock(all.clock),
      settings,
      scenarios: all.scenario,
      scenariosFolder: findOwnScenarios(all.scenarios),
      persist: readPersistence(all.persist, all.durable === true),
      store: readFleetStore(all),
      shared: all.shared
        ? {
            token: readControlToken(),
            allowAddresses: all["allow-webhook"],
            limits: maxSandboxes === undefined ? undefined : { sandboxes: maxSandboxes },
          }
        : undefined,
      overrides: all.overrides,
      delay: all.delay === undefined ? undefined : readDelay(all.delay),
      certificate: await loadCertificate(all),
      publicUrl:
        publicUrl === undefined
          ? undefined
          : readBaseUrl("--public-url", publicUrl, "https://sandbox.example.test"),
      trustProxy,
      upstream: readUpstream(all),
      allowHosts: [...listServerNames(host), ...(all["allow-host"] ?? [])],
    },
  };
}

/**
 * Keeps the server running after an error in a promise or timer that a user's operation has started, as after an error
 * in its handler.
 */
function surviveOperationErrors(): void {
  const report = (error: unknown) =>
    printError(`an error outside the handlers of --operations: ${inspect(error)}`);
  process.on("uncaughtException", report).on("unhandledRejection", report);
}

/** Loads the code for own operations only if there are any. @throws DocumentError */
async function openOwnOperations({ operations, openapi }: StartFlags) {
  if (operations === undefined && openapi === undefined) return { ownFiles: [], operations: undefined };
  const { loadOwnSources, openOwnFiles } = await import("../documents/own-files.ts");
  if (operations !== undefined) surviveOperationErrors();
  const ownFiles = await openOwnFiles({ operations, openapi });
  return { ownFiles, operations: await loadOwnSources(ownFiles) };
}

/** Loads the code for certificates only with `--https`. @throws UsageError */
async function loadCertificate({ https, cert, key, store }: StartFlags) {
  if (!https) {
    if (cert ?? key) throw new UsageError("--cert and --key need --https");
    return undefined;
  }
  if (store !== undefined)
    throw new UsageError(
      "--https and --store exclude each other: put a proxy that speaks TLS before a fleet",
    );
  const { readCertificate } = await import("./certificate.ts");
  return readCertificate(cert, key);
}

function isLocal(host: string): boolean {
  return isLoopback(isIPv6(host) ? `[${host}]` : host.toLowerCase());
}

/** The server accepts the host that it is bound to as its name; clients never send the zone of an address. */
function listServerNames(host: string): string[] {
  return isLocal(host) || EVERY_ADDRESS.test(host) ? [] : [host.replace(/%.*$/, "")];
}

/** @throws UsageError */
function readControlToken(): string {
  const token = process.env["UNDERSTUDY_TOKEN"];
  if (!token) return toToken(randomBytes(24));
  const problem = findTokenProblem(token);
  if (problem !== undefined) throw new UsageError(`UNDERSTUDY_TOKEN ${problem}`);
  return token;
}

/** Never starts with `-`, so that `--token TEXT` can take it. */
export function toToken(bytes: Buffer): string {
  return bytes.toString("base64url").replace(/^-/, "_");
}

/** `200ms`, or `p50/p99` as in `80ms/1s`. @throws UsageError */
function readDelay(text: string): UnderstudyOptions["delay"] {
  const [p50, p99, ...more] = text.split("/");
  for (const part of [p50, p99]) {
    const problem = part === undefined ? undefined : findDelayProblem(part);
    if (problem !== undefined) throw new UsageError(`--delay ${problem.message}`);
  }
  if (p99 === undefined) return p50;
  if (more.length > 0) throw new UsageError(`--delay takes 200ms, or p50/p99 as in 80ms/1s, not "${text}"`);
  if (parseDuration(p99)! < parseDuration(p50)!)
    throw new UsageError(`--delay ${text} has a p99 that is shorter than its p50`);
  return { p50: p50!, p99 };
}

/** `real`, `frozen`, `frozen@ISO`, `xN`. @throws UsageError */
function readClock(text: string): ClockSetting {
  if (text === "real" || text === "frozen") return { mode: text };
  if (text.startsWith("frozen@")) {
    const now = parseInstant(text.slice("frozen@".length));
    if (now === undefined) throw new UsageError(`--clock: "${text.slice(7)}" is not an ISO 8601 instant`);
    return { mode: "frozen", now };
  }
  if (text.startsWith("x"))
    return { mode: "scaled", rate: runOrThrowUsageError("--clock", () => readRate(text)) };
  throw new UsageError(`--clock takes real, frozen, frozen@2026-03-15T12:00:00Z or x60, not "${text}"`);
}

/**
 * A folder, or one document (interfaces.md 2). A document is always written as a whole, so `--durable` excludes it.
 * @throws UsageError
 */
function readPersistence(path: string | undefined, durable: boolean): UnderstudyOptions["persist"] {
  if (path === undefined) {
    if (durable) throw new UsageError("--durable needs --persist DIR");
    return undefined;
  }
  requireExpandedHome(path);
  if (!/\.json$/i.test(path) || isFolder(path)) return { folder: path, durable };
  if (durable) {
    throw new UsageError(
      `--durable needs --persist DIR: the document ${path} is saved whole, within a second, not at each answer`,
    );
  }
  return { file: path };
}

/** The store of a fleet, and this node's address (interfaces.md 15). @throws UsageError */
function readFleetStore(flags: StartFlags): UnderstudyOptions["store"] {
  const { store, persist, shared } = flags;
  const node = flags["node-url"];
  if (store === undefined) {
    if (node !== undefined) throw new UsageError("--node-url needs --store redis://HOST:6379");
    return undefined;
  }
  if (!/^rediss?:\/\/[^/?#]+(\/\d+)?\/?$/.test(store) || !URL.canParse(store))
    throw new UsageError("--store takes the address of a Redis, as in redis://10.0.0.9:6379");
  if (!shared)
    throw new UsageError("--store needs --shared: the nodes of a fleet are reached from other machines");
  if (persist !== undefined)
    throw new UsageError("--store and --persist exclude each other: a fleet keeps everything in its Redis");
  if (!process.env["UNDERSTUDY_TOKEN"])
    throw new UsageError(
      "--store needs UNDERSTUDY_TOKEN, the control token that all nodes of the fleet share",
    );
  if (node === undefined)
    throw new UsageError(
      "--store needs --node-url, where the other nodes reach this one, as in http://10.0.0.5:4747",
    );
  const url = readHttpUrl(node);
  if (
    typeof url === "string" ||
    url.protocol !== "http:" ||
    `${url.pathname}${url.search}${url.hash}` !== "/"
  )
    throw new UsageError(
      `--node-url takes an address without a path, as in http://10.0.0.5:4747, not "${node}"`,
    );
  return { url: store, nodeUrl: url.origin };
}

/** @throws UsageError */
function requireMaxSandboxes(maximum: number, shared: boolean | undefined): void {
  if (!Number.isSafeInteger(maximum) || maximum < 1)
    throw new UsageError(`--max-sandboxes takes a whole number from 1, not ${maximum}`);
  if (!shared) throw new UsageError("--max-sandboxes needs --shared: a local server has no limit");
}

/** @throws UsageError */
function requireRanges(flag: "allow-webhook" | "allow-upstream", all: StartFlags): void {
  const ranges = all[flag] ?? [];
  for (const range of ranges) {
    const [address = "", bits = "", ...more] = range.split("/");
    const family = isIP(address);
    const fits = /^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128);
    if (family === 0 || !fits || more.length > 0)
      throw new UsageError(`--${flag} takes an address range such as 10.0.0.0/8, not "${range}"`);
  }
  if (ranges.length > 0 && !all.shared)
    throw new UsageError(`--${flag} needs --shared: a local server calls every address`);
}

async function loadConfiguration(path: string | undefined): Promise<LoadedConfiguration> {
  const file = path ?? DEFAULT_CONFIGS.find((name) => lstatSync(name, { throwIfNoEntry: false }));
  if (file === undefined) return { options: {}, settings: undefined, locate: (error) => error };
  // Loads the YAML reader and the schema only if there is a file to read.
  const { readConfiguration } = await import("./configuration.ts");
  return readConfiguration(file);
}

/** `--clock` of a new sandbox, as the control API takes it. @throws UsageError */
export function toClockChange(text: string | undefined): ClockChange | undefined {
  if (text === undefined) return undefined;
  const { mode, now, rate } = readClock(text);
  return { mode, rate, now: now === undefined ? undefined : new Date(now).toISOString() };
}

/** Speed relative to the wall clock: `x60`, `60`. @throws UsageError */
export function readRate(text: string): number {
  const rate = Number(/^x?(\d+(?:\.\d+)?)$/.exec(text)?.[1] ?? Number.NaN);
  if (!(rate > 0 && rate <= MAX_RATE))
    throw new UsageError(`"${text}" is not a rate; write for example x1, x60 or x0.5; at most x${MAX_RATE}`);
  return rate;
}

/** The folder of the user's own scenarios (interfaces.md 2); `./scenarios` may be created later. @throws UsageError */
export function findOwnScenarios(folder: string | undefined): string {
  if (folder !== undefined && !isFolder(folder))
    throw new UsageError(`--scenarios: there is no folder ${folder}`);
  return folder ?? "scenarios";
}
