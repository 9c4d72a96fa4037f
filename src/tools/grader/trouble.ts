import type { NoAnswer, RawAnswer } from "./send-raw.ts";
import type { Exchange } from "./session.ts";

/** What an answer, or its absence, tells of the receiver; each is to be mended in another place. */
export type Trouble =
  | "accepted"
  | "redirect"
  | "bad-request"
  | "unauthorized"
  | "not-found"
  | "method"
  | "conflict"
  | "gone"
  | "no-length"
  | "too-large"
  | "media-type"
  | "invalid"
  | "slow-down"
  | "exception"
  | "gateway"
  | "late"
  | "tls"
  | "unreachable"
  | "hung-up"
  | "no-http"
  | "other";

const BY_STATUS: Readonly<Record<number, Trouble>> = {
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
  429: "slow-down",
  501: "method",
  502: "gateway",
  503: "gateway",
  504: "gateway",
};

const BY_REASON: Partial<Record<NoAnswer["reason"], Trouble>> = {
  timeout: "late",
  refused: "unreachable",
  unreachable: "unreachable",
  dns: "unreachable",
  tls: "tls",
  reset: "hung-up",
  incomplete: "hung-up",
  protocol: "no-http",
};

export function troubleOf({ result }: Exchange): Trouble {
  if (result.kind === "left") return "other";
  if (result.kind === "none") return BY_REASON[result.reason] ?? "other";
  const { status } = result;
  const family = Math.floor(status / 100);
  if (family === 2) return "accepted";
  if (family === 3) return "redirect";
  return BY_STATUS[status] ?? (family === 5 ? "exception" : "other");
}

/** Work after the answer: said alike wherever lateness or loss is the matter. */
export const STORE_THEN_ANSWER =
  "Store the delivery durably (a row, a queue), answer 2xx, and do slow work from there.";

/** What to change, judged by the answer that came; never by what else might be wrong. */
const ADVICE: Readonly<Record<Trouble, (exchange: Exchange) => string>> = {
  accepted: () => "Answer 2xx to what the service sends, and to nothing else.",
  redirect: adviseOnRedirect,
  "bad-request": () =>
    "It could make nothing of the request; its answer and its log should say of what. Usual causes: a signature header looked up under another name, a body that something else had read before, a check that asks for more than 6.2 has.",
  unauthorized: adviseOnRefusal,
  "not-found": () =>
    "Nothing is routed at this path. Compare the URL's path with the route, prefix and slash at the end included.",
  method: () => "The route doesn't take this method. Deliveries are POST: register the handler for it.",
  conflict: () =>
    "Answer 2xx to a delivery that was processed before: 409 makes the service send it again. One that is still being processed may be put off; raise --patience if it takes longer.",
  gone: () =>
    "Answer 410 only when the endpoint is retired for good; refuse with 400 or 401, and answer 2xx to what you ignore.",
  "no-length": () => "Take bodies without a Content-Length: read to their end, whatever their framing.",
  "too-large": () =>
    "Raise the body limit of this route (1 MB is a sensible bound), in the framework and in the proxies before it.",
  "media-type": () => "Take `application/json`, whatever its parameters and letter case.",
  invalid: () =>
    "Its validation asks for something that a delivery needn't have; its answer should say for what. Compare it with the payload in the report. Where it looks up an object that it must know, name one: --data user_id=usr_….",
  "slow-down": () =>
    "Let the rate limit of this route through what the service sends, or exempt it; a 429 is retried like any failure, minutes later.",
  exception: () =>
    "An exception in its handler: the log has it. Where it comes from what is missing or odd in the request, refuse with 4xx before it is thrown.",
  gateway: adviseOnGateway,
  late: adviseOnLateness,
  tls: adviseOnTls,
  unreachable: () =>
    "Nothing listens there: start the receiver, and compare host and port of the URL with what it says it listens on; a firewall may drop connections too.",
  "hung-up": () =>
    "It closed the connection in place of a whole answer: its log should show an exception, a crash or a restart. A Content-Length that doesn't fit the body looks the same.",
  "no-http": () =>
    "What answered isn't HTTP. Compare scheme and port: an https server asked by http answers so, and other services do.",
  other: () => "Answer 2xx; its log should say why it answered otherwise.",
};

/**
 * What to change when this came of a check: its own advice where that fits the answer, else the answer's.
 */
export function adviceOn(
  check: { advice: string; mends?: readonly Trouble[] },
  exchange: Exchange | null,
): string {
  if (exchange === null) return check.advice;
  const trouble = troubleOf(exchange);
  if (trouble === "accepted" || trouble === "other" || check.mends?.includes(trouble)) return check.advice;
  return ADVICE[trouble](exchange);
}

/** What to change so that the service's own delivery is accepted. */
export function adviceOnRefused(exchange: Exchange): string {
  return ADVICE[troubleOf(exchange)](exchange);
}

function adviseOnRedirect({ request, result }: Exchange): string {
  const location = (result as RawAnswer).headers["location"];
  const target = typeof location === "string" ? absolute(location, request.url) : undefined;
  if (target === undefined) {
    return "Let this route answer itself instead of redirecting: redirects are not followed.";
  }
  const difference = differenceOf(request.url, target);
  return `Register ${target.origin}${target.pathname} as the webhook's URL${difference}, or let this route answer itself: redirects are not followed.`;
}

function absolute(location: string, base: URL): URL | undefined {
  return URL.canParse(location, base.href) ? new URL(location, base) : undefined;
}

function differenceOf(from: URL, to: URL): string {
  if (from.protocol === "http:" && to.protocol === "https:") return " (https, where this is http)";
  if (to.pathname === `${from.pathname}/`) return " (with the slash at its end)";
  if (from.pathname === `${to.pathname}/`) return " (without the slash at its end)";
  if (/log-?in|sign-?in|auth/i.test(to.pathname)) {
    return " if that is the receiver; it looks like a page to log in, from which this route is to be exempt";
  }
  return "";
}

function adviseOnRefusal({ result }: Exchange): string {
  const { headers, status, body } = result as RawAnswer;
  if (headers["www-authenticate"] !== undefined) {
    return "It asks for credentials of HTTP, which the service doesn't send: exempt this route, whose signature stands in their place.";
  }
  if (status === 403 && /csrf|forgery/i.test(body.toString("utf8"))) {
    return "Its protection against cross-site requests refuses the delivery: exempt this route, whose signature stands in its place.";
  }
  return "It takes the right signature for wrong. Give it the webhook's secret as it was shown at creation, whole, and let it take the HMAC-SHA256 over the raw bytes of the body; `understudy signature explain` says what its own digest was made of.";
}

function adviseOnGateway({ result }: Exchange): string {
  const { status } = result as RawAnswer;
  if (status === 502) {
    return "A gateway answered in the receiver's place: the application behind it is down, or ended the connection. Look at the gateway's log and at the application's.";
  }
  if (status === 504) {
    return `A gateway gave up waiting for the application behind it. ${STORE_THEN_ANSWER}`;
  }
  return "It is overloaded, starting, or busy with this very delivery: its log, or that of the gateway before it, should say which. If it is only busy for longer, raise --patience.";
}

function adviseOnLateness({ result }: Exchange): string {
  const { message } = result as NoAnswer;
  if (message.includes("connection was not made")) {
    return "No connection came about: a firewall drops packets without a word, or the host is another one.";
  }
  return `${STORE_THEN_ANSWER} The service waits 30 s, and sends again what was not answered by then.`;
}

function adviseOnTls({ result }: Exchange): string {
  const { message } = result as NoAnswer;
  if (/wrong version number|packet length too long|unknown protocol/i.test(message)) {
    return "The port speaks plain HTTP: use http in the URL, or let the server speak TLS.";
  }
  if (/expired/i.test(message)) return "Renew the certificate: it has expired.";
  if (/cert's|altname|hostname/i.test(message)) {
    return "The certificate is made out to another name: register the URL under a name that it holds, or get one for this name.";
  }
  if (/self.signed|unable to (get|verify)|local issuer/i.test(message)) {
    return "Use a certificate of a public authority, sent with its intermediate ones; to grade a receiver behind one of your own, --ca FILE.";
  }
  return "The TLS handshake fails: look at protocol versions, ciphers and certificate of the server.";
}
