import Type from "typebox";
import type { EffectDocument, ReportEffect } from "./effect.ts";

export const Headers = Type.Unsafe<Record<string, string | number>>({
  type: "object",
  additionalProperties: { type: ["string", "number"] },
  description: "Headers of the answer, besides those that every answer carries",
});

const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]{0,4096}$/;
/** Framing is the server's business; a scenario that breaks it on purpose uses `wire`. */
const FRAMING = new Set([
  "content-length",
  "transfer-encoding",
  "connection",
  "keep-alive",
  "upgrade",
  "trailer",
]);

/** What Node would throw on, or what would break the connection. */
export function headerProblem({ headers = {} }: EffectDocument, report: ReportEffect): void {
  for (const [name, value] of Object.entries(headers)) {
    const at = ["headers", name];
    if (!NAME.test(name)) report(at, "is no name for a header");
    else if (FRAMING.has(name.toLowerCase()))
      report(at, "belongs to the connection and cannot be set; see `wire`");
    else if (!VALUE.test(String(value))) report(at, "holds characters that a header cannot carry");
  }
}

export function headersOf(headers: EffectDocument["headers"] = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}
