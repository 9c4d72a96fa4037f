import { ControlError, UnreachableError } from "../client/http.ts";
import { DocumentError } from "../documents/document-error.ts";
import { PersistenceError } from "../persistence/persistence-error.ts";
import { UnknownScenario } from "../sandbox/fault-gate.ts";

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
  if (json) process.stderr.write(`${JSON.stringify({ error: message, ...details })}\n`);
  else process.stderr.write(`understudy: ${message}\n`);
  return code;
}

function read(error: unknown): { message: string; code: number; details?: object } {
  if (error instanceof DocumentError) {
    return { message: error.formatWithFrames(), code: EXIT_USAGE, details: { problems: error.problems } };
  }
  if (error instanceof UnknownScenario) {
    const hint = error.hint === undefined ? "" : ` (did you mean "${error.hint}"?)`;
    return { message: `${error.message}${hint}`, code: EXIT_USAGE };
  }
  if (error instanceof PersistenceError) return { message: error.message, code: EXIT_USAGE };
  if (error instanceof UsageError) return { message: error.message, code: EXIT_USAGE };
  if (error instanceof CheckFailed || error instanceof UnreachableError) {
    return { message: error.message, code: EXIT_FAILED };
  }
  if (error instanceof ControlError) {
    // Values the server refuses were typed by the user; everything else could not be reached.
    const code = error.status === 422 || error.status === 400 ? EXIT_USAGE : EXIT_FAILED;
    return { message: error.message, code, details: { problem: error.problem } };
  }
  const { code, message, port, address, path } = error as NodeJS.ErrnoException & {
    port?: number;
    address?: string;
  };
  if (code === "EADDRINUSE") {
    return {
      message: `port ${port} on ${address} is in use; choose another with --port, or --port 0 for a free one`,
      code: EXIT_USAGE,
    };
  }
  if (code === "EACCES" || code === "ENOENT" || code === "EISDIR" || code === "ENOTDIR") {
    return { message: `cannot use ${path ?? "the file"}: ${message}`, code: EXIT_USAGE };
  }
  return { message: `unexpected failure: ${message ?? String(error)}`, code: EXIT_FAILED };
}
