/* Requests that are forwarded to a page: by its service worker, or by another tab that shares its world. */

import { unstreamedBodies } from "../hosts/fetch/fetch-answer.ts";
import { showValue, UPLOAD_PATH } from "./options.ts";

/** The browser's MessagePort; Node's types have another. */
export interface Port {
  onmessage: ((event: { data: never; ports: readonly Port[] }) => void) | null;
  postMessage(message: unknown, transfer?: readonly unknown[]): void;
}

/** Sent with a port for the answer. */
export interface ForwardedRequest {
  type: "request";
  method: string;
  url: string;
  headers: [string, string][];
  body: ArrayBuffer;
}

/** Messages over the port of a request: the whole answer, or its head, and each piece once the reader has asked for it. */
export type AnswerPart =
  | { type: "whole"; status: number; headers: [string, string][]; bytes: Uint8Array | null }
  | { type: "head"; status: number; headers: [string, string][] }
  | { type: "piece"; bytes: Uint8Array }
  | { type: "end" }
  | { type: "broken" };

/** Messages in the other direction. */
export type ReaderMessage = { type: "next" } | { type: "abort" };

/** From the worker to the page that has introduced itself. */
export interface WorkerVersion {
  type: "version";
  version: string;
  /** The page's id among the worker's clients. */
  clientId: string;
}

export function createChannel(): [Port, Port] {
  const { port1, port2 } = new MessageChannel();
  return [port1 as never, port2 as never];
}

/** The location of the page, or of its worker. */
const getLocation = () => (globalThis as unknown as { location: { href: string; origin: string } }).location;

/** The address to which the page's relative URLs are relative: an element `<base>` may change it. */
const getBase = () =>
  (globalThis as { document?: { baseURI: string } }).document?.baseURI ?? getLocation().href;

/**
 * Paths of requests that a sandbox answers, without a slash at their end; those of other origins with their origin. The
 * upload URLs that the sandbox hands out are among them.
 * @throws TypeError
 */
export function toPaths(paths: unknown): string[] {
  const refuse = (): never => {
    throw new TypeError(
      `paths is a list of paths such as "/v1", or of URLs for other origins; it was given ${showValue(paths)}`,
    );
  };
  if (!Array.isArray(paths) || paths.length === 0) return refuse();
  const answered = paths.map((path: unknown) => {
    if (
      typeof path !== "string" ||
      !/^(\/|https?:)[^?#]*$/.test(path) ||
      !URL.canParse(path, getLocation().origin)
    )
      return refuse();
    const { origin, pathname } = new URL(path, getLocation().origin);
    const withoutSlash = pathname.replace(/\/+$/, "");
    if (origin !== getLocation().origin) return origin + withoutSlash;
    // The page's own files are below "/".
    return withoutSlash === "" ? refuse() : withoutSlash;
  });
  const uploads = answered.map((path) => (/^https?:\/\/[^/]*/.exec(path)?.[0] ?? "") + UPLOAD_PATH);
  return [...new Set([...answered, ...uploads])];
}

export function isBelow(address: string, paths: readonly string[]): boolean {
  // The browser reports an invalid URL.
  if (!URL.canParse(address, getBase())) return false;
  const { origin, pathname } = new URL(address, getBase());
  const target = `${origin === getLocation().origin ? "" : origin}${pathname}/`;
  return paths.some((path) => target.startsWith(`${path}/`));
}

export async function toForwardedRequest(request: Request): Promise<ForwardedRequest> {
  const { method, url, headers } = request;
  return { type: "request", method, url, headers: [...headers], body: await request.arrayBuffer() };
}

/** The channel on which a page reports the address of a worker that another one is about to replace. */
export const REPLACEMENTS = "understudy:replaced";

/** The ports of answers that have not ended. */
const openPorts = new Set<Port>();

/** Breaks all answers that have not ended. */
export function breakAnswers(): void {
  for (const port of openPorts) {
    port.postMessage({ type: "abort" });
    port.onmessage!({ data: { type: "broken" } as never, ports: [] });
  }
}

/**
 * Assembles an answer from its parts; a broken one is a network error. Each piece is sent once the one before
 * was read, so that a slow reader needs no memory.
 */
export function receiveAnswer(port: Port, signal: AbortSignal): Promise<Response> {
  const abort = () => port.postMessage({ type: "abort" });
  signal.addEventListener("abort", abort);
  openPorts.add(port);
  return new Promise((resolve) => {
    let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
    const createBody = () =>
      new ReadableStream<Uint8Array>(
        {
          start: (bodyController) => {
            controller = bodyController;
          },
          pull: () => port.postMessage({ type: "next" }),
          cancel: () => {
            openPorts.delete(port);
            // A piece may be under way, which a cancelled stream refuses.
            port.onmessage = null;
            abort();
          },
        },
        { highWaterMark: 0 },
      );
    port.onmessage = ({ data }: { data: AnswerPart }) => {
      if (data.type !== "head" && data.type !== "piece") openPorts.delete(port);
      if (data.type === "whole") resolve(createWholeResponse(data.bytes, data));
      else if (data.type === "head") resolve(new Response(createBody(), data));
      else if (data.type === "piece") controller!.enqueue(data.bytes);
      else if (data.type === "end") controller!.close();
      else if (controller === undefined) resolve(Response.error());
      else controller.error(new TypeError("terminated"));
    };
  });
}

/** The body is a stream: Chromium passes a worker's plain bytes through a blob of the browser's process, which takes a millisecond. */
function createWholeResponse(bytes: Uint8Array | null, init: ResponseInit): Response {
  if (bytes === null) return new Response(null, init);
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(bytes);
      controller.close();
    },
  });
  const response = new Response(body, init);
  unstreamedBodies.set(response, bytes);
  return response;
}
