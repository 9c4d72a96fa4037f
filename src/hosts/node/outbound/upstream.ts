import { randomBytes } from "node:crypto";
import http, { type ClientRequest, type IncomingMessage } from "node:http";
import https from "node:https";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { clearTimeout, setTimeout } from "node:timers";
import { toPairs } from "../../../engine/maps.ts";
import {
  type Upstream,
  type UpstreamAnswer,
  UpstreamFailure,
} from "../../../engine/pipeline/engine-parts.ts";
import { listForwardedHeaders } from "../send.ts";
import { createAddressPolicy } from "./address-policy.ts";
import { createUrlResolver } from "./outbound.ts";
import { limitInterimAnswers } from "./outbound-connection.ts";
import { CLOSED_UNANSWERED, toFailure } from "./outbound-failure.ts";
import { toLookup } from "./resolve-target.ts";

export interface UpstreamOptions {
  /** http or https; its path is put before the path of each request. */
  url: string;
  /** Name and value; each replaces the client's headers of that name. */
  headers?: readonly (readonly [string, string])[];
  /** Ranges (CIDR) of its addresses; on a shared server no others are called. */
  allowAddresses?: readonly string[];
  /** Wall milliseconds until the answer begins. */
  timeoutMs?: number;
}

const TIMEOUT_MS = 120_000;
/** More than any client accepts; Node's own limit is 16 KB. */
export const MAX_ANSWER_HEADER_BYTES = 1024 * 1024;

/** Further headers of one connection. */
const NOT_FORWARDED = /^(proxy-auth.*|transfer-encoding|host)$/i;
const NO_BODY = /^(GET|HEAD|DELETE|OPTIONS|TRACE|CONNECT)$/;
/** Headers of Understudy, which the real service does not know; trailers of a request are not forwarded. */
const NOT_SENT = /^(x-(sandbox|understudy)(-.*)?|trailer)$/i;

/**
 * Sends requests to the real service with their own headers and bodies, and returns its answers unchanged:
 * neither decompressed nor redirected. Each request has its own connection.
 */
export function createUpstream(
  { url, headers = [], allowAddresses, timeoutMs = TIMEOUT_MS }: UpstreamOptions,
  mode: "local" | "shared",
): Upstream {
  const policy = createAddressPolicy({ mode, allow: allowAddresses, onlyAllowed: true });
  const resolveUrl = createUrlResolver({ policy });
  const base = new URL(url);
  /** Shows that a request has been here before (RFC 9110, 7.6.3). */
  const via = `1.1 understudy-${randomBytes(6).toString("hex")}`;
  const replacedNames = new Set(headers.map(([name]) => name.toLowerCase()));

  return {
    url,
    async send({ method, target, rawHeaders, body, signal }): Promise<UpstreamAnswer> {
      const forwardedHeaders = listHeaders(
        rawHeaders,
        (name) => !NOT_SENT.test(name) && !replacedNames.has(name.toLowerCase()),
      );
      if (forwardedHeaders.some(([name, value]) => name.toLowerCase() === "via" && value.includes(via)))
        throw new UpstreamFailure(508, `${url} sends the request back to this server`);
      const path = base.pathname.replace(/\/$/, "") + target;
      const createFailure = (status: number, reason: string) =>
        new UpstreamFailure(status, `${method} ${path}: ${reason}`);
      const hasHeader = (pattern: RegExp) => toPairs(rawHeaders).some(([name]) => pattern.test(name));
      const framing: string[] = [];
      if (hasHeader(/^transfer-encoding$/i)) framing.push("Transfer-Encoding", "chunked");
      // For a POST without a body, Node would add `Transfer-Encoding: chunked`.
      else if (!hasHeader(/^content-length$/i) && !NO_BODY.test(method)) framing.push("Content-Length", "0");
      const host = replacedNames.has("host") ? [] : ["Host", base.host];
      const requestHeaders = [
        ...host,
        "Connection",
        "close",
        ...forwardedHeaders.flat(),
        ...headers.flat(),
        "Via",
        via,
        ...framing,
      ];
      const deadline = new AbortController();
      const timer = setTimeout(() => deadline.abort(), timeoutMs);
      try {
        const { addresses } = await resolveUrl(base);
        const { protocol, port } = base;
        const hostname = base.hostname.replace(/^\[(.*)\]$/, "$1");
        const options = {
          protocol,
          hostname,
          port,
          path,
          method,
          headers: requestHeaders,
          lookup: toLookup(addresses),
          agent: false as const,
          signal: AbortSignal.any([signal, deadline.signal]),
          maxHeaderSize: MAX_ANSWER_HEADER_BYTES,
        };
        const outgoing = (protocol === "https:" ? https : http).request(options);
        const incoming = await awaitResponse(outgoing, body);
        // Without a listener the error would end the process; the reader of the body gets it too.
        incoming.on("error", () => {});
        if (method === "HEAD") incoming.resume();
        return {
          status: incoming.statusCode!,
          reason: incoming.statusMessage!,
          headers: listHeaders(incoming.rawHeaders).flat(),
          trailers: () => listHeaders(incoming.rawTrailers).flat(),
          body: incoming,
        };
      } catch (error) {
        signal.throwIfAborted();
        if (deadline.signal.aborted) throw createFailure(504, `no answer within ${timeoutMs / 1000} s`);
        throw createFailure(502, toFailure(error).error.message);
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

/** Lists the headers to forward, as pairs of name and value. */
function listHeaders(raw: readonly string[], accepts = (_name: string) => true): [string, string][] {
  return toPairs(listForwardedHeaders(raw, NOT_FORWARDED)).filter(([name]) => accepts(name));
}

/** Sends the body. Resolves with the beginning of the answer, which may come before the end of the body. */
function awaitResponse(outgoing: ClientRequest, body: AsyncIterable<Uint8Array>): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    outgoing.once("response", (incoming) => {
      if (incoming.statusCode! >= 100) resolve(incoming);
      else outgoing.destroy(new Error(`it sent the status ${incoming.statusCode}, which HTTP does not have`));
    });
    outgoing.once("upgrade", (_answer, socket) => {
      socket.destroy();
      reject(new Error("it switched protocols, which cannot be forwarded"));
    });
    limitInterimAnswers(outgoing, () => outgoing.destroy(new Error("it sends interim answers without end")));
    outgoing.on("error", reject);
    outgoing.once("close", () => reject(new Error(CLOSED_UNANSWERED)));
    // An answer before the end of the body ends the upload; the answer counts.
    pipeline(Readable.from(body), outgoing).catch(reject);
  });
}
