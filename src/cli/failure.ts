import { ADDRESS_ADVICE, AddressError, ControlError, UnreachableError } from "../client/http.ts";
import { NameError } from "../client/options.ts";
import { OwnOperationError } from "../engine/contract/errors.ts";
import { toPrintableJson } from "../engine/contract/text.ts";
import { DocumentError } from "../engine/documents/document-error.ts";
import { UnknownScenarioError } from "../engine/sandbox/fault-types.ts";
import { PersistenceError } from "../persistence/store.ts";
import { InputError, UnusableTargetError } from "../tools/input.ts";
import { printError } from "./process.ts";

/** A check failed, or the server cannot be reached (interfaces.md 2). */
export const EXIT_FAILED = 1;
/** Wrong usage, a port in use, a missing file (interfaces.md 2). */
const EXIT_USAGE = 2;

/** Wrong usage that only the command itself can detect; ends with exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Runs work whose failure is wrong usage; `problem` begins the message. @throws UsageError, DocumentError */
export function runOrThrowUsageError<T>(problem: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof DocumentError) throw error;
    const { code = "", message } = error as SystemError;
    throw new UsageError(`${problem}: ${SYSTEM_ERRORS[code] ?? message}`);
  }
}

/** The command ran, and its check failed; ends with exit code 1. */
export class CheckFailed extends Error {
  override readonly name = "CheckFailed";
}

const USAGE_ERRORS = [UsageError, InputError, AddressError, NameError, PersistenceError, OwnOperationError];

/** Prints one readable message, never a stack trace, and returns the exit code. */
export function report(error: unknown, json: boolean): number {
  const { message, code, details } = describeFailure(error);
  if (json) process.stderr.write(`${toPrintableJson({ error: message, ...details })}\n`);
  else printError(message);
  return code;
}

function describeFailure(error: unknown): { message: string; code: number; details?: object } {
  if (error instanceof DocumentError) {
    return { message: error.formatWithFrames(), code: EXIT_USAGE, details: { problems: error.problems } };
  }
  if (error instanceof UnknownScenarioError)
    return { message: explainUnknownScenario(error), code: EXIT_USAGE };
  if (USAGE_ERRORS.some((kind) => error instanceof kind))
    return { message: (error as Error).message, code: EXIT_USAGE };
  if (error instanceof CheckFailed || error instanceof UnusableTargetError)
    return { message: error.message, code: EXIT_FAILED };
  if (error instanceof UnreachableError)
    return { message: error.message.replace(ADDRESS_ADVICE, "name another with --url"), code: EXIT_FAILED };
  if (error instanceof ControlError) {
    // The user typed the values that the server refuses.
    const code = error.status === 422 || error.status === 400 ? EXIT_USAGE : EXIT_FAILED;
    return { message: replaceCallsWithCommands(error.message), code, details: { problem: error.problem } };
  }
  const explanation = explainSystemError(error as SystemError);
  if (explanation !== undefined) return { message: explanation, code: EXIT_USAGE };
  return { message: `unexpected failure: ${(error as Error).message ?? String(error)}`, code: EXIT_FAILED };
}

export function explainUnknownScenario({ message, hint }: UnknownScenarioError): string {
  return (
    message +
    (hint === undefined ? "; `understudy scenario list` has the names" : ` (did you mean "${hint}"?)`)
  );
}

/** Control calls in messages of the server, and the commands that make them. The space keeps longer paths from matching. */
const COMMANDS: readonly (readonly [call: string, command: string])[] = [
  ["GET /_control/sandboxes ", "sandbox list"],
  ["GET /_control/openapi.json ", "openapi"],
  ["GET /_control/sandboxes/{name}/snapshots ", "snapshot list"],
  ["GET /_control/sandboxes/{name}/scenarios ", "scenario list"],
  ["GET /_control/sandboxes/{name}/deliveries ", "deliveries list"],
  ["GET /_control/sandboxes/{name}/history ", "history"],
];

function replaceCallsWithCommands(message: string): string {
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

/** The meaning of each error of the operating system, for a user. */
const SYSTEM_ERRORS: Readonly<Record<string, string>> = {
  EACCES: "permission is denied",
  EPERM: "the system does not allow it",
  EROFS: "the disk is read-only",
  ENOSPC: "the disk is full",
  EDQUOT: "your disk quota is used up",
  EEXIST: "something else with that name exists",
  ENOENT: "there is no such file or folder",
  EISDIR: "it is a folder",
  ENOTDIR: "a part of its path is a file, not a folder",
  ENOTEMPTY: "it is a folder that is not empty",
  ELOOP: "its symbolic links form a loop",
  ENAMETOOLONG: "its name is too long",
  ENXIO: "no process reads it",
  EIO: "the disk reports an error",
  EMFILE: "too many files are open",
  ENFILE: "too many files are open on this machine",
};

const ADDRESS_ERRORS = new Set(["ENOTFOUND", "EAI_AGAIN", "EADDRNOTAVAIL", "EAFNOSUPPORT"]);

/** Undefined if it is no error of the operating system, or one without words here. */
function explainSystemError(error: SystemError): string | undefined {
  const { code, port, address, hostname, path, dest, syscall } = error;
  if (code === "EADDRINUSE")
    return `port ${port} on ${address} is in use; choose another with --port, or --port 0 for a free one`;
  // EINVAL: an address that needs a zone, such as `fe80::1` without `%eth0`.
  if (ADDRESS_ERRORS.has(code!) || (code === "EINVAL" && syscall === "listen"))
    return `--host ${hostname ?? address ?? "as given"} is not an address of this machine`;
  if (code === "EACCES" && syscall === "listen")
    return `port ${port} on ${address} needs administrator rights; choose a port from 1024 up with --port`;
  const words = code === undefined ? undefined : SYSTEM_ERRORS[code];
  // An error of reading or writing an open file names no path, for example if the input is a folder.
  const stream = syscall === "read" ? "the input" : "the output";
  return words === undefined ? undefined : `cannot use ${dest ?? path ?? stream}: ${words}`;
}
