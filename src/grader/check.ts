import type { Delivery, Transport } from "./delivery.ts";
import type { ExpectedEffects, ProbeReading } from "./probe.ts";
import type { Outcome, Severity } from "./report.ts";
import type { NoAnswer } from "./send-raw.ts";
import type { Exchange, Session } from "./session.ts";

export interface Check {
  id: string;
  title: string;
  severity: Severity;
  /** One sentence: what goes wrong in production when this is not so. */
  why: string;
  advice: string;
  /** Judges what was already exchanged, so it has something to say even when grading was cut short. */
  sendsNothing?: true;
  run(session: Session): Promise<Finding> | Finding;
}

export interface Finding {
  outcome: Outcome;
  detail: string;
  exchange: Exchange | null;
  note?: string;
  /** Where something else is to be changed than the check says. */
  advice?: string;
}

export const passed = (detail: string, exchange: Exchange | null = null): Finding => ({
  outcome: "passed",
  detail,
  exchange,
});

export const failed = (detail: string, exchange: Exchange | null = null): Finding => ({
  outcome: "failed",
  detail,
  exchange,
});

export const notObservable = (detail: string, exchange: Exchange | null = null): Finding => ({
  outcome: "not-observable",
  detail,
  exchange,
});

/** The status answered, or 0 when there was no answer (as the service records it, G24). */
export function statusOf(exchange: Exchange): number {
  return exchange.result.kind === "answer" ? exchange.result.status : 0;
}

export function isAccepted(exchange: Exchange): boolean {
  return Math.floor(statusOf(exchange) / 100) === 2;
}

/** 429 is no refusal: it says nothing of the request itself, which may be accepted later. */
export function isRefused(exchange: Exchange): boolean {
  const status = statusOf(exchange);
  return Math.floor(status / 100) === 4 && status !== 429;
}

/** `answered 200 in 12 ms`, `gave no answer: socket hang up`. */
export function describe(exchange: Exchange): string {
  const { result } = exchange;
  if (result.kind === "left") return "was left without reading the answer";
  if (result.kind === "none") return describeSilence(result);
  const text = excerpt(result.body);
  const location = result.status >= 300 && result.status <= 399 ? result.headers["location"] : undefined;
  const where = location === undefined ? "" : `, a redirect to ${excerpt(Buffer.from(String(location)))}`;
  return `answered ${result.status} in ${result.duration_ms} ms${where}${text === "" ? "" : `: ${text}`}`;
}

function describeSilence({ reason, message, duration_ms }: NoAnswer): string {
  if (reason === "reset") {
    return `closed the connection after ${duration_ms} ms without an answer (${message}); its log should show why: an exception in its handler, or its end`;
  }
  if (reason === "tls") {
    return `gave no answer: ${message}; the service accepts no certificate that it cannot verify (for one of your own, --ca FILE)`;
  }
  return `gave no answer: ${message}`;
}

/** The start of an answer, on one line. */
function excerpt(body: Buffer): string {
  const text = body
    .subarray(0, 400)
    .toString("utf8")
    .replace(/[\p{C}\s]+/gu, " ")
    .trim();
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
}

export interface Sending {
  label: string;
  delivery: Delivery;
  transport?: Transport;
}

/** Sends each delivery in turn; passes when every one is answered 2xx. */
export async function expectAccepted(session: Session, sendings: Sending[]): Promise<Finding> {
  let last: Exchange | null = null;
  for (const { label, delivery, transport } of sendings) {
    last = await session.deliver(delivery, transport);
    if (!isAccepted(last))
      return failed(`${label}: the receiver ${describe(last)}, where 2xx is expected`, last);
  }
  return passed(last ? `the receiver ${describe(last)}` : "nothing to send", last);
}

/**
 * Sends each delivery in turn; passes when every one is answered 4xx and, where a probe can tell,
 * none of them had a side effect.
 */
export async function expectRefused(session: Session, sendings: Sending[]): Promise<Finding> {
  const before = await session.readProbe();
  let last: Exchange | null = null;
  for (const { label, delivery, transport } of sendings) {
    last = await session.deliver(delivery, transport);
    if (!isRefused(last))
      return failed(`${label}: the receiver ${describe(last)}, where 4xx is expected`, last);
  }
  const none = new Map(sendings.map(({ delivery }) => [delivery.id, 0]));
  const difference = await session.effectsDiffer(before, none);
  if (difference !== null && difference !== "unknown") {
    return failed(`the delivery was refused and yet processed: ${difference}`, last);
  }
  return passed(last ? `the receiver ${describe(last)}` : "nothing to send", last);
}

export const NO_PROBE = "side effects cannot be seen without a probe that can be read (--probe URL)";

/** Answers of a receiver that is still busy with the same delivery, and wants it later. */
const BUSY = new Set([409, 423, 425, 500, 502, 503, 504]);

/**
 * Sends a delivery that the receiver may be working on already: told to come again, it does so for as long as
 * the session's patience lasts (the service would leave a minute in between).
 */
export async function deliverWhenFree(session: Session, delivery: Delivery): Promise<Exchange> {
  const giveUp = performance.now() + session.options.patienceMs;
  for (;;) {
    const exchange = await session.deliver(delivery);
    if (!BUSY.has(statusOf(exchange)) || performance.now() >= giveUp) return exchange;
    await session.pause(200);
  }
}

/** Turns the probe's word into the finding of a check whose answers were already found to be right. */
export async function judgeEffects(
  session: Session,
  observed: { before: ProbeReading | null; expected: ExpectedEffects; exchange: Exchange | null },
): Promise<Finding> {
  const difference = await session.effectsDiffer(observed.before, observed.expected);
  if (difference === "unknown")
    return notObservable(`answered as it should be, but ${NO_PROBE}`, observed.exchange);
  if (difference !== null) return failed(difference, observed.exchange);
  return passed(
    "answered as it should be, and the probe shows exactly one side effect each",
    observed.exchange,
  );
}
