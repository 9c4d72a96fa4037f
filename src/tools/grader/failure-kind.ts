import { clip } from "../../engine/contract/text.ts";
import { CLOSED_UNANSWERED, RESET_UNANSWERED } from "../../hosts/node/outbound/outbound-failure.ts";
import type { OutboundErrorKind, OutboundResult } from "../../hosts/node/outbound/outbound-request.ts";
import type { OptionNames } from "./report.ts";
import type { Attempt } from "./session.ts";

/** A kind of answer, or of missing answer; each has its own fix. */
export type FailureKind = keyof typeof ADVICE;

const BY_STATUS: Readonly<Record<number, FailureKind>> = {
  400: "bad-request",
  401: "unauthorized",
  403: "unauthorized",
  404: "not-found",
  405: "method",
  409: "conflict",
  410: "gone",
  411: "no-length",
  413: "too-large",
  415: "media-type",
  422: "invalid",
  429: "rate-limited",
  501: "method",
  502: "gateway",
  503: "gateway",
  504: "gateway",
};

const BY_ERROR_KIND: Partial<Record<OutboundErrorKind, FailureKind>> = {
  timeout: "late",
  refused: "unreachable",
  unreachable: "unreachable",
  dns: "unreachable",
  tls: "tls",
  reset: "hung-up",
  incomplete: "hung-up",
  protocol: "no-http",
};

function classify({ result }: Attempt): FailureKind {
  const { error, response_code: status } = result;
  if (error !== undefined) return BY_ERROR_KIND[error.kind] ?? "other";
  const family = Math.floor(status / 100);
  if (family === 2) return "accepted";
  if (family === 3) return "redirect";
  return BY_STATUS[status] ?? (family === 5 ? "exception" : "other");
}

/** The advice wherever a receiver is too slow or loses deliveries. */
export const STORE_THEN_ANSWER =
  "Store the delivery durably (a row, a queue), answer 2xx, and do slow work from there.";

const ADVICE = {
  accepted: () => "Answer 2xx to what the service sends, and to nothing else.",
  redirect: adviseOnRedirect,
  "bad-request": () =>
    "The receiver could not read the request; its answer and its log should say why. Usual causes: it looks up the signature header under another name, something has read the body before, or it requires more than section 6.2 contains.",
  unauthorized: adviseOnRefusal,
  "not-found": () =>
    "Nothing is routed at this path. Compare the URL's path with the route, prefix and final slash included.",
  method: () => "The route doesn't take this method. Deliveries are POST: register the handler for it.",
  conflict: (_attempt, { patience }) =>
    `Answer 2xx to a delivery that was processed before: 409 makes the service send it again. While a delivery is still being processed, 409 is fine; raise ${patience} if that takes longer.`,
  gone: () =>
    "Answer 410 only when the endpoint is retired for good; refuse with 400 or 401, and answer 2xx to what you ignore.",
  "no-length": () => "Accept bodies without a Content-Length: read to the end, whatever the framing.",
  "too-large": () =>
    "Raise the body limit of this route (1 MB is a sensible bound), in the framework and in the proxies in front of it.",
  "media-type": () => "Accept `application/json`, whatever its parameters and letter case.",
  invalid: (_attempt, { knownUser }) =>
    `The receiver's validation requires something that a delivery need not have; its answer should say what. Compare it with the payload in the report. If it looks up an object that it must know, name one: ${knownUser}.`,
  "rate-limited": () =>
    "Let the rate limit of this route admit what the service sends, or exempt the route; a 429 is retried like any failure, minutes later.",
  exception: () =>
    "The handler threw an exception: see its log. If something missing or odd in the request causes it, refuse with 4xx before it is thrown.",
  gateway: adviseOnGateway,
  late: adviseOnLateness,
  tls: adviseOnTls,
  unreachable: () =>
    "Nothing listens there: start the receiver, and compare host and port of the URL with those that it listens on; a firewall may also drop connections.",
  "hung-up": () =>
    "The receiver closed the connection before a whole answer: its log should show an exception, a crash or a restart. A Content-Length that doesn't fit the body looks the same, and so does an https server that is called by http.",
  "no-http": ({ result }) =>
    /header|content-length|transfer-encoding/i.test(result.error!.message)
      ? "The answer has headers that HTTP does not allow: more than 16 KB of them, a control character in one, or two that contradict each other. Look at what the receiver and its proxies add."
      : "The answer isn't HTTP. Compare scheme and port: an https server that is called by http answers like this, and so do other services.",
  other: () => "Answer 2xx; the receiver's log should say why it answered something else.",
} satisfies Record<string, (attempt: Attempt, names: OptionNames) => string>;

/** The fix for a failed check: the check's own advice if it fits the answer, else the advice for the answer. */
export function adviseOnCheck(
  check: { advice: string; adviceAppliesTo?: readonly FailureKind[] },
  { attempt, names }: { attempt: Attempt | null; names: OptionNames },
): string {
  if (attempt === null) return check.advice;
  const kind = classify(attempt);
  if (kind === "accepted" || kind === "other" || check.adviceAppliesTo?.includes(kind)) return check.advice;
  return ADVICE[kind](attempt, names);
}

/** The fix for a receiver that does not accept a genuine delivery. */
export function adviseOnAttempt(attempt: Attempt, names: OptionNames): string {
  return ADVICE[classify(attempt)](attempt, names);
}

function adviseOnRedirect({ request, result }: Attempt): string {
  const location = result.headers["location"];
  const target =
    typeof location === "string" && URL.canParse(location, request.url.href)
      ? new URL(location, request.url.href)
      : undefined;
  if (target === undefined)
    return "Let this route answer itself instead of redirecting: redirects are not followed.";
  if (target.href === request.url.href)
    return "This route redirects to itself, such as to set a cookie first: let it answer the delivery instead; redirects are not followed.";
  const difference = describeDifference(request.url, target);
  return `Register ${target.origin}${target.pathname}${target.search} as the webhook's URL${difference}, or let this route answer itself: redirects are not followed.`;
}

function describeDifference(from: URL, to: URL): string {
  if (from.protocol === "http:" && to.protocol === "https:") return " (https instead of http)";
  if (to.pathname === `${from.pathname}/`) return " (with the final slash)";
  if (from.pathname === `${to.pathname}/`) return " (without the final slash)";
  if (/log-?in|sign-?in|auth/i.test(to.pathname))
    return " if that is the receiver; it looks like a login page, so exempt this route from logging in";
  return "";
}

function adviseOnRefusal({ result }: Attempt): string {
  const { headers, response_code: status, body } = result;
  if (headers["www-authenticate"] !== undefined)
    return "The receiver asks for HTTP credentials, which the service doesn't send: exempt this route; the signature replaces them.";
  if (status === 403 && /csrf|forgery/i.test(body.toString("utf8")))
    return "Protection against cross-site requests refuses the delivery: exempt this route; the signature replaces it.";
  return "The receiver rejects a correct signature. Give it the webhook's whole secret as it was shown at creation, and compute the HMAC-SHA256 over the raw bytes of the body; `understudy signature explain` shows how its own digest was computed.";
}

function adviseOnGateway({ result }: Attempt, { patience }: OptionNames): string {
  const { response_code: status } = result;
  if (status === 502)
    return "A gateway answered instead of the receiver: the application behind it is down, or closed the connection. Look at the gateway's log and at the application's.";
  if (status === 504) return `A gateway gave up waiting for the application behind it. ${STORE_THEN_ANSWER}`;
  return `The receiver is overloaded, starting, or busy with this very delivery: its log, or that of the gateway in front of it, should say which. If it is only busy for longer, raise ${patience}.`;
}

function adviseOnLateness({ result }: Attempt): string {
  const { message } = result.error!;
  if (message.includes("connection was not made"))
    return "No connection was made: a firewall drops packets silently, or the URL names the wrong host.";
  if (message.includes("did not end"))
    return "The answer began and never ended: end it in the handler, and send as many bytes as its Content-Length says.";
  return `${STORE_THEN_ANSWER} The service waits 30 s, and then sends the delivery again.`;
}

function adviseOnTls({ result }: Attempt, { trustCertificate }: OptionNames): string {
  const { message } = result.error!;
  if (/wrong version number|packet length too long|unknown protocol/i.test(message))
    return "The port speaks plain HTTP: use http in the URL, or let the server speak TLS.";
  if (/expired/i.test(message)) return "Renew the certificate: it has expired.";
  if (/cert's|altname|hostname/i.test(message))
    return "The certificate is for another name: register the URL under a name in the certificate, or get a certificate for this name.";
  if (/self.signed|unable to (get|verify)|local issuer/i.test(message))
    return `Use a certificate of a public authority, sent with its intermediate certificates; to grade a receiver with one of your own, ${trustCertificate}.`;
  return "The TLS handshake fails: look at protocol versions, ciphers and certificate of the server.";
}

/** The result as the end of a sentence: `answered 200 in 12 ms`, `gave no answer: connect ECONNREFUSED`. */
export function describeResult({ result }: Attempt): string {
  const { error, response_code: status, headers, body } = result;
  if (error?.kind === "left") return "was sent a request whose answer the test did not read";
  if (error !== undefined) return describeSilence(result);
  const text = toExcerpt(body);
  const location = status >= 300 && status <= 399 ? headers["location"] : undefined;
  const where = location === undefined ? "" : `, a redirect to ${toExcerpt(Buffer.from(String(location)))}`;
  return `answered ${status} in ${result.duration_ms} ms${where}${text === "" ? "" : `: ${text}`}`;
}

function describeSilence({ error, duration_ms }: OutboundResult): string {
  const { kind, message } = error!;
  if (kind === "reset") {
    const isKnown = message === CLOSED_UNANSWERED || message === RESET_UNANSWERED;
    return `closed the connection after ${duration_ms} ms without an answer${isKnown ? "" : ` (${message})`}; its log should show an exception in its handler, or the end of its process`;
  }
  if (kind === "tls")
    return `gave no answer: ${message}; the service accepts no certificate that it cannot verify`;
  return kind === "timeout" ? message : `gave no answer: ${message}`;
}

/** The start of an answer, on one line. */
function toExcerpt(body: Buffer): string {
  const text = body
    .subarray(0, 400)
    .toString("utf8")
    .replace(/[\p{C}\s]+/gu, " ")
    .trim();
  return clip(text, 120);
}
