import type { Exchange } from "./session.ts";

/** All that an answer says, headers included; empty where there was none. */
export function answerText({ result }: Exchange): string {
  if (result.kind !== "answer") return "";
  const headers = Object.entries(result.headers).map(([name, value]) => `${name}: ${String(value)}`);
  return `${headers.join("\n")}\n\n${result.body.toString("utf8")}`;
}

/** Every stretch of `length` characters, with where it begins. */
export function stretches(text: string, length: number): { at: number; part: string }[] {
  return Array.from({ length: Math.max(0, text.length - length + 1) }, (_, at) => ({
    at,
    part: text.slice(at, at + length),
  }));
}
