import { pluralize, printable } from "../../engine/contract/text.ts";
import type { Judgement } from "../../engine/receivers/judge-signature.ts";
import { SIGNATURE_HEADER } from "../../engine/webhooks/sign.ts";

/** A delivery as `understudy listen` saw it. */
export interface HeardDelivery {
  /** ISO 8601, wall clock: a listener has no sandbox. */
  at: string;
  method: string;
  path: string;
  headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  body: Buffer;
  event: string | undefined;
  delivery_id: string | undefined;
  /** The number of the request with this delivery id, from 1. */
  attempt: number;
  /** Undefined where no secret was given. */
  judgement: Judgement | undefined;
  answer: string;
}

const MAX_SHOWN_BYTES = 4096;

/** A few lines for the terminal; where the signature does not match, why, and the bytes that should be signed. */
export function formatDelivery(delivery: HeardDelivery): string {
  const { at, method, path, event, delivery_id, attempt, judgement, answer, body, headers } = delivery;
  const what =
    event === undefined ? `${method} ${path}` : `${event}  ${delivery_id ?? "without delivery id"}`;
  const lines = [
    `${at.slice(11, 23)}  ${printable(what)}  attempt ${attempt}  signature ${describeVerdict(judgement)}  -> ${answer}`,
  ];
  if (judgement === undefined || judgement.verdict === "valid") lines.push(`  ${shown(body)}`);
  else {
    lines.push(
      `  why:       ${printable(judgement.reason)}`,
      `  fix:       ${judgement.fix}`,
      `  received:  ${SIGNATURE_HEADER}: ${printable(String(headers[SIGNATURE_HEADER.toLowerCase()] ?? "(none)"))}`,
      `  signed:    the ${pluralize(body.length, "byte")} of the body, exactly as received:`,
      ...hexDump(body),
    );
  }
  return lines.join("\n");
}

function describeVerdict(judgement: Judgement | undefined): string {
  return judgement === undefined ? "not checked (no --secret)" : judgement.verdict.toUpperCase();
}

function shown(body: Buffer): string {
  const text = printable(body.subarray(0, MAX_SHOWN_BYTES).toString("utf8"));
  return body.length > MAX_SHOWN_BYTES ? `${text} … (${body.length} bytes)` : text;
}

/** Sixteen bytes a line, in hex and as text, so that a line break or a byte-order mark can be seen. */
function hexDump(body: Buffer): string[] {
  const lines: string[] = [];
  for (let at = 0; at < Math.min(body.length, MAX_SHOWN_BYTES); at += 16) {
    const row = body.subarray(at, at + 16);
    const hex = [...row].map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const text = row.toString("latin1").replaceAll(/[^\x20-\x7e]/g, ".");
    lines.push(`    ${at.toString(16).padStart(6, "0")}  ${hex.padEnd(47)}  ${text}`);
  }
  if (body.length > MAX_SHOWN_BYTES) lines.push(`    … ${body.length - MAX_SHOWN_BYTES} bytes more`);
  return lines;
}
