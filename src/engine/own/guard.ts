import { Type } from "typebox";
import { ApiError, type ErrorCode, OwnOperationError } from "../contract/errors.ts";
import type { AnyEvent } from "../contract/event.ts";
import { findUnsendableHeader } from "../contract/header-fields.ts";
import { type AnyOperation, type Call, listErrorCodes, listSuccesses } from "../contract/operation.ts";
import { Reply } from "../contract/reply.ts";
import { toValidator } from "../contract/validator.ts";
import { getOrAdd } from "../maps.ts";
import { platform } from "../platform.ts";
import { OwnWorld } from "./own-world.ts";

/** Maximum run time of a user's function, in milliseconds. In a page nothing but the browser can stop an endless loop. */
const MAX_RUN_MS = 1000;

/** The body of a declaration that has a status and no response. */
export const ANY_BODY_OR_NONE = Type.Unknown();

/** The world of each transaction, shared by `access` and the handler, which may read the records that `access` returns. */
const worlds = new WeakMap<Call["world"], OwnWorld>();

/**
 * Guards a user's operation: its handler gets copies of records, and must end in time and return JSON of the declared
 * form; else only its own request fails. Emits `event`, if given, about the record that the handler returns.
 */
export function guardHandler(operation: AnyOperation, event?: AnyEvent): AnyOperation {
  const { access, handle } = operation;
  const refusals = new Set(listErrorCodes(operation));
  const run = (work: () => unknown) => {
    const value = runBounded(work, operation, refusals);
    if (typeof (value as PromiseLike<unknown> | undefined)?.then === "function") {
      // A later rejection must not end the process.
      (value as PromiseLike<unknown>).then(undefined, () => {});
      throw new OwnOperationError(
        `${operation.id} returned a promise; a handler answers at once, in one transaction`,
      );
    }
    return value;
  };
  return {
    ...operation,
    ...(access && {
      // A user's own function makes its handler call itself (own-operation.ts).
      access(call) {
        try {
          return run(() => access(call));
        } catch (error) {
          worlds.get(call.world)?.end(operation.id);
          throw error;
        }
      },
    }),
    handle(call, loaded, prepared) {
      const handlerCall = toHandlerCall(call);
      try {
        const value = run(() => handle(handlerCall as never, loaded, prepared));
        // The value's `toJSON` and getters are the user's code too.
        const answer = runBounded(() => toJson(operation, value), operation, refusals);
        if (event !== undefined) run(() => handlerCall.world.emit(event, answer as object));
        return answer === undefined ? new Reply(listSuccesses(operation).at(-1)!.status) : answer;
      } finally {
        handlerCall.world.end(operation.id);
      }
    },
  };
}

/** The call in the form that a user's handler receives. */
export function toHandlerCall(call: Call) {
  const { params, query, body, headers, principal, request } = call;
  const { id, sandbox } = request;
  return {
    params,
    query,
    body,
    headers: { ...headers },
    principal: principal && { ...principal },
    world: getOrAdd(worlds, call.world, () => OwnWorld.create(call)),
    request: {
      id,
      sandbox,
      get base_url() {
        return request.base_url;
      },
    },
  };
}

/** The value as a client will read it. @throws OwnOperationError for one that the operation does not declare */
function toJson(operation: AnyOperation, value: unknown): unknown {
  const [success, empty] = listSuccesses(operation);
  const createError = (problem: string) => new OwnOperationError(`${operation.id} ${problem}`);
  if (value === undefined) {
    if (success!.schema === undefined || success!.schema === ANY_BODY_OR_NONE || empty !== undefined)
      return undefined;
    throw createError("returned nothing, and its response is not empty");
  }
  if (value instanceof Error) throw createError("returned an error; a handler throws it");
  const text = stringify(operation.id, value);
  if (success!.schema === undefined)
    throw createError(`returned a body, and declares the status ${success!.status}, which has none`);
  const body = JSON.parse(text) as unknown;
  const validate = toValidator(success!.schema);
  if (validate(body)) return body;
  const { instancePath, message } = validate.errors![0]!;
  throw createError(`returned a body that does not fit its response: ${instancePath || "it"} ${message}`);
}

function stringify(id: string, value: unknown): string {
  let reason = "";
  try {
    const text = JSON.stringify(value, refuseOpaque) as string | undefined;
    if (text !== undefined) return text;
  } catch (error) {
    reason = `: ${(error as Error).message.split("\n")[0]}`;
  }
  throw new OwnOperationError(`${id} returned a value that JSON cannot carry${reason}`);
}

/** A replacer for JSON, which would write a Map, a Response or a promise as `{}`. */
function refuseOpaque(_name: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const [, type] = /^\[object (.+)\]$/.exec(Object.prototype.toString.call(value)) ?? [];
  if (type === "Object" || type === "Array" || Object.keys(value).length > 0) return value;
  throw new TypeError(`a ${type} would be {}`);
}

type UserFunction = Pick<AnyOperation, "id" | "sourceFile">;

/** @param declared the codes with which the function may refuse */
export function runBounded<T>(work: () => T, thrower: UserFunction, declared = new Set<string>()): T {
  try {
    return platform().runBounded(work, MAX_RUN_MS);
  } catch (error) {
    throw explainThrown(error, thrower, declared);
  }
}

function explainThrown(error: unknown, thrower: UserFunction, declared: ReadonlySet<string>): Error {
  try {
    return readThrown(error, thrower, declared);
  } catch (cause) {
    return new OwnOperationError(`${thrower.id} threw a value that cannot be read`, { cause });
  }
}

function readThrown(error: unknown, { id, sourceFile }: UserFunction, declared: ReadonlySet<string>): Error {
  if (error instanceof OwnOperationError) return error;
  const thrown = error as { name?: string; code?: string; message?: string; stack?: string } | undefined;
  if (thrown?.code === "ERR_SCRIPT_EXECUTION_TIMEOUT")
    return new OwnOperationError(`${id} did not end within ${MAX_RUN_MS / 1000} s and was stopped`);
  // `refuse()` may be that of another copy of the package.
  if (error instanceof ApiError || thrown?.name === "Refusal") {
    const { code = "" } = thrown as { code?: string };
    if (!declared.has(code))
      return new OwnOperationError(`${id} refused with ${code}, which its errors do not list`);
    const { message, details, headers } = error as Pick<Error, "message"> & {
      details?: object;
      headers?: Record<string, string>;
    };
    // As JSON now: values that it cannot carry fail here, and records are read before the world ends.
    const jsonDetails: unknown = JSON.parse(JSON.stringify(details ?? {}));
    if (error instanceof ApiError) return error;
    const unsendableHeader = findUnsendableHeader(headers);
    if (unsendableHeader !== undefined)
      return new OwnOperationError(
        `${id} refused with the header ${JSON.stringify(unsendableHeader)}, which cannot be sent`,
      );
    return new ApiError(code as ErrorCode, {
      ...(message !== code && { message }),
      details: { ...(jsonDetails as object) },
      headers: { ...headers },
    });
  }
  const line = findDeclarationLine(String(thrown?.stack), sourceFile);
  const problem =
    thrown?.message === undefined
      ? `threw ${describeThrown(error)}`
      : `threw ${thrown.name}: ${thrown.message}`;
  return new OwnOperationError(`${id} ${problem}${line === undefined ? "" : ` (${line})`}`, { cause: error });
}

function describeThrown(thrown: unknown): string {
  return typeof thrown === "object" ? (JSON.stringify(thrown) ?? String(thrown)) : String(thrown);
}

/** The line of the declaration file in a stack. */
function findDeclarationLine(stack: string, source = ""): string | undefined {
  const file = source.replace(/^.*[\\/]/, "");
  for (const line of stack.split("\n")) {
    const [, path, position] = /([^\s()]+):(\d+:\d+)\)?$/.exec(line) ?? [];
    if (path !== undefined && file !== "" && path.endsWith(file)) return `${source}:${position}`;
  }
  return undefined;
}
