import { AddressError, ControlError, UnreachableError } from "../client/http.ts";
import { printableJson } from "../engine/contract/printable.ts";
import { DocumentError } from "../engine/documents/document-error.ts";
import { UnknownScenario } from "../engine/sandbox/fault-gate.ts";
import { PersistenceError } from "../persistence/store.ts";
import { complain } from "./output.ts";

/** interfaces 2: what was to be checked or reached fails. */
export const EXIT_FAILED = 1;
/** interfaces 2: wrong usage, a port in use, a file without which the command cannot run. */
const EXIT_USAGE = 2;

/** Wrong usage that only the command itself can see; ends with exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** The command did its work and the answer is no; ends with exit code 1. */
export class CheckFailed extends Error {
  override readonly name = "CheckFailed";
}

/** Prints one readable message, never a stack trace, and gives the exit code for it. */
export function report(error: unknown, json: boolean): number {
  const { message, code, details } = read(error);
  if (json) process.stderr.write(`${printableJson({ error: message, ...details })}\n`);
  else complain(message);
  return code;
}

function read(error: unknown): { message: string; code: number; details?: object } {
  if (error instanceof DocumentError) {
    return { message: error.formatWithFrames(), code: EXIT_USAGE, details: { problems: error.problems } };
  }
  if (error instanceof UnknownScenario) {
    const hint =
      error.hint === undefined
        ? "; `understudy scenario list` has the names"
        : ` (did you mean "${error.hint}"?)`;
    return { message: `${error.message}${hint}`, code: EXIT_USAGE };
  }
  if (error instanceof PersistenceError) return { message: error.message, code: EXIT_USAGE };
  if (error instanceof UsageError || error instanceof AddressError)
    return { message: error.message, code: EXIT_USAGE };
  if (error instanceof CheckFailed || error instanceof UnreachableError) {
    return { message: error.message, code: EXIT_FAILED };
  }
  if (error instanceof ControlError) {
    // Values the server refuses were typed by the user; everything else could not be reached.
    const code = error.status === 422 || error.status === 400 ? EXIT_USAGE : EXIT_FAILED;
    return { message: asCommands(error.message), code, details: { problem: error.problem } };
  }
  const refused = systemRefusal(error as SystemError);
  if (refused !== undefined) return { message: refused, code: EXIT_USAGE };
  return { message: `unexpected failure: ${(error as Error).message ?? String(error)}`, code: EXIT_FAILED };
}

/** The control calls that a server's sentences send the reader to, and the commands that make them. */
const COMMANDS: readonly (readonly [call: string, command: string])[] = [
  ["GET /_control/sandboxes ", "sandbox list"],
  ["GET /_control/openapi.json ", "openapi"],
  ["GET S/snapshots ", "snapshot list"],
  ["GET S/scenarios ", "scenario list"],
  ["GET S/deliveries ", "deliveries list"],
  ["GET S/history ", "history"],
];

function asCommands(message: string): string {
  return COMMANDS.reduce(
    (text, [call, command]) => text.replace(call, `\`understudy ${command}\` `),
    message,
  );
}

type SystemError = NodeJS.ErrnoException & {
  port?: number;
  address?: string;
  hostname?: string;
  dest?: string;
};

/** What the operating system refuses, in words. */
const REFUSALS: Readonly<Record<string, string>> = {
  EACCES: "permission is denied",
  EPERM: "the system does not permit it",
  EROFS: "it lies on a disk that can only be read",
  ENOSPC: "the disk is full",
  EDQUOT: "your share of the disk is full",
  EEXIST: "something else stands there already",
  ENOENT: "there is no such file or folder",
  EISDIR: "it is a folder",
  ENOTDIR: "a part of its path is a file, not a folder",
  ENOTEMPTY: "it is a folder that is not empty",
  ELOOP: "its links lead in a circle",
  ENAMETOOLONG: "its name is too long",
  ENXIO: "nobody is at the other end of it",
  EIO: "the disk fails",
  EMFILE: "too many files are open",
  ENFILE: "too many files are open on this machine",
};

const NO_ADDRESS = new Set(["ENOTFOUND", "EAI_AGAIN", "EADDRNOTAVAIL", "EAFNOSUPPORT"]);

/** Undefined for what is no error of the operating system. */
function systemRefusal(error: SystemError): string | undefined {
  const { code, port, address, hostname, path, dest, syscall } = error;
  if (code === "EADDRINUSE")
    return `port ${port} on ${address} is in use; choose another with --port, or --port 0 for a free one`;
  // EINVAL: an address that only a zone makes one, as `fe80::1` without its `%eth0`.
  if (NO_ADDRESS.has(code!) || (code === "EINVAL" && syscall === "listen"))
    return `--host ${hostname ?? address ?? "as given"} is no address of this machine`;
  if (code === "EACCES" && syscall === "listen")
    return `port ${port} on ${address} needs more rights; choose one from 1024 up with --port`;
  const words = code === undefined ? undefined : REFUSALS[code];
  return words === undefined ? undefined : `cannot use ${dest ?? path ?? "the output"}: ${words}`;
}
