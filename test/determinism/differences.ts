import type { Answer, AnswerBody, Entry } from "./recording.ts";

/** Number of differing responses that are shown; the others are only counted. */
const MAX_SHOWN = 10;
const CONTEXT_LENGTH = 60;

export interface Differences {
  count: number;
  /** The number of differing responses and the first of them, as a readable text. */
  report: string;
}

/**
 * Compares the responses of two recordings of the same requests. `reduce` removes the parts that may differ;
 * undefined skips the response.
 */
export function listDifferences(
  recorded: readonly Entry[],
  answered: readonly Entry[],
  reduce: (entry: Entry, answered: Entry, position: number) => [Answer, Answer] | undefined,
): Differences {
  const lines: string[] = [];
  let count = 0;
  for (const [position, entry] of recorded.entries()) {
    const pair = reduce(entry, answered[position]!, position);
    if (pair === undefined) continue;
    const found = describeDifferences(...pair);
    if (found.length === 0) continue;
    count += 1;
    if (count > MAX_SHOWN) continue;
    const { method, path } = entry.request;
    lines.push(`request ${position}: ${method} ${path}`, ...found.map((line) => `    ${line}`));
  }
  const more = count > MAX_SHOWN ? `\nand ${count - MAX_SHOWN} more` : "";
  return {
    count,
    report: `${count} of ${recorded.length} answers differ from the recording:\n${lines.join("\n")}${more}\n`,
  };
}

function describeDifferences(recorded: Answer, answered: Answer): string[] {
  const lines: string[] = [];
  if (recorded.status !== answered.status)
    lines.push(`status: ${recorded.status} was recorded, ${answered.status} came`);
  if (recorded.broken !== answered.broken)
    lines.push(`the connection ${answered.broken ? "broke" : "lasted"}, other than recorded`);
  lines.push(...describeHeaders(recorded.headers, answered.headers));
  const [one, other] = [toPlainText(recorded.body), toPlainText(answered.body)];
  if (one !== other) lines.push(...describeTexts(one, other));
  return lines;
}

function describeHeaders(recorded: Answer["headers"], answered: Answer["headers"]): string[] {
  const [before, now] = [recorded, answered].map((headers) => headers.map((header) => header.join(": ")));
  const gone = before!.filter((line) => !now!.includes(line)).map((line) => `header recorded: ${line}`);
  const come = now!.filter((line) => !before!.includes(line)).map((line) => `header came:     ${line}`);
  const isMoved = gone.length + come.length === 0 && before!.join("\n") !== now!.join("\n");
  return isMoved ? ["the headers came in another order or number", ...now!] : [...gone, ...come];
}

function toPlainText(body: AnswerBody): string {
  return typeof body === "string" ? body : JSON.stringify(body);
}

/** Shows both texts around the first character that differs. */
function describeTexts(recorded: string, answered: string): string[] {
  let at = 0;
  while (at < recorded.length && recorded[at] === answered[at]) at += 1;
  const quotePart = (text: string) =>
    JSON.stringify(text.slice(Math.max(0, at - CONTEXT_LENGTH), at + CONTEXT_LENGTH));
  return [
    `body from character ${at}:`,
    `  recorded: ${quotePart(recorded)}`,
    `  came:     ${quotePart(answered)}`,
  ];
}
