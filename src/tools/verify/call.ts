import { type AnyOperation, readsOnly } from "../../engine/contract/operation.ts";

/** One request, as far as it differs from the declaration: the key's, no query, no body. */
export interface Call {
  /** Absent for an undeclared path. */
  operation?: AnyOperation;
  method?: string;
  /** Instead of the operation's path. */
  path?: string;
  /** Instead of target and path: an upload's URL, which may lie on another host and takes no credential. */
  url?: string;
  params?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, string | number>>;
  /** A form, text or bytes go as they are; anything else as JSON. */
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
  /** `key` by default; or headers that replace it. */
  credential?: "key" | "none" | Readonly<Record<string, string>>;
  /** Ends the request after the first server-sent event. */
  firstEvent?: boolean;
}

/**
 * Whether a request changes nothing, whatever the service does with it: it reads; or it is a probe that
 * carries neither credential nor body, for objects that do not exist, so that a service which forgets to ask
 * who calls still finds nothing to change.
 */
export function changesNothing({ operation, method, credential, body, params, query }: Call): boolean {
  if (operation === undefined) return (method ?? "GET") === "GET";
  if (readsOnly(operation)) return method === undefined || method === operation.method;
  const namesNothing = Object.values(params ?? {}).every(isMadeUp) && query === undefined;
  if (method === "GET") return true;
  return credential === "none" && body === undefined && namesNothing;
}

const MARK = "nobody0";

/** An id of the right form that no service has given to anything. */
export function madeUpId(prefix: string): string {
  const random = Array.from(globalThis.crypto.getRandomValues(new Uint8Array(12)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
  return `${prefix}${MARK}${random}`;
}

export function isMadeUp(id: string): boolean {
  return id.includes(MARK);
}
