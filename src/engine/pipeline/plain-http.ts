import type { RequestHeaders } from "../contract/operation.ts";
import type { WireFault } from "../sandbox/fault-injector.ts";

export type { RequestHeaders };

/** A request as a host hands it to the engine, whatever it came over. */
export interface PlainRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: RequestHeaders;
  /** Name, value, name, value … as the client sent them. */
  readonly rawHeaders: readonly string[];
  /** Can be read once. @throws ClientGone if the client leaves before its end */
  readonly body: AsyncIterable<Uint8Array>;
  /** Host and port of the server, for URLs in answers to a request without a Host header. */
  readonly authority: string;
  /** Aborts with a ClientGone when the client leaves, or the answer has been sent. */
  readonly signal: AbortSignal;
}

/** The answer of an operation, a refusal or a fault, without the headers that all answers have. */
export interface Answer {
  status: number;
  headers: Readonly<Record<string, string>>;
  content_type: string | undefined;
  body: string | Uint8Array | undefined;
  stream?: (signal: AbortSignal) => AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>;
}

/** An answer as the engine hands it to a host: complete, with every header. */
export interface PlainAnswer {
  status: number;
  /** Name, value, name, value … in the order in which they are sent. */
  headers: string[];
  body: string | Uint8Array | undefined;
  /** Size of `body` in bytes. */
  length: number;
  /** In place of `body`: produces it piece by piece, until the signal aborts. */
  stream: ((signal: AbortSignal) => AsyncIterable<string | Uint8Array>) | undefined;
  /** The host breaks the connection in this way, instead of sending the answer as it is. */
  wire: InjectedWire | undefined;
}

export interface InjectedWire {
  fault: WireFault;
  /** Wall milliseconds that the fault spreads the answer over. */
  over_ms: number;
}

/** The client left before its request was complete; no answer can reach it. */
export class ClientGone extends Error {
  override readonly name = "ClientGone";
}

/** The sandbox that a request is for, and its path there. */
export interface Address {
  sandbox: string;
  /** Without sandbox prefix and query. */
  path: string;
  query: string;
  /** Whether the path named the sandbox, as in `/_s/NAME/v1/models`. */
  prefixed: boolean;
}

const NAMED_PATH = /^\/_s\/([^/]*)(.*)$/;

/** By prefix, else by the `X-Sandbox` header (interfaces 3). */
export function readAddress({ target, headers }: Pick<PlainRequest, "target" | "headers">): Address {
  const { path, query } = splitTarget(target);
  const [, name, rest] = (path.startsWith("/_s/") && NAMED_PATH.exec(path)) || [];
  if (name !== undefined) return { sandbox: name, path: rest || "/", query, prefixed: true };
  const named = headers["x-sandbox"] as string | undefined;
  return { sandbox: named ?? "default", path: path || "/", query, prefixed: false };
}

export function splitTarget(target: string): { path: string; query: string } {
  const mark = target.indexOf("?");
  if (mark < 0) return { path: target, query: "" };
  return { path: target.slice(0, mark), query: target.slice(mark + 1) };
}
