import { HOP_HEADER } from "./hop-header.ts";

/** RFC 9110, 7.6.1: what concerns one connection alone; and what was expected of us has been given. */
const OF_CONNECTION = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "upgrade",
  "te",
  "expect",
  HOP_HEADER,
]);

/** What goes on of a request's headers, as they were written. */
export function headersOf(raw: readonly string[]): string[] {
  const kept: string[] = [];
  for (let i = 0; i < raw.length; i += 2)
    if (!OF_CONNECTION.has(raw[i]!.toLowerCase())) kept.push(raw[i]!, raw[i + 1]!);
  return kept;
}

/** An answer's headers, without the object that Node would make of them. */
export class AnswerHead {
  /** What goes on, as it was written. */
  readonly kept: string[] = [];
  hop: string | undefined;
  length: number | undefined;

  constructor(raw: readonly string[]) {
    for (let i = 0; i < raw.length; i += 2) {
      const name = raw[i]!.toLowerCase();
      const value = raw[i + 1]!;
      if (name === "content-length") this.length = Number(value);
      if (name === HOP_HEADER) this.hop = value;
      if (!OF_CONNECTION.has(name)) this.kept.push(raw[i]!, value);
    }
  }
}
