import { readFileSync, writeFileSync } from "node:fs";

const FILE = new URL("./recording.json", import.meta.url);

export interface Request {
  method: string;
  path: string;
  headers: Record<string, string>;
  /** Bytes that are not UTF-8 text are in base64. */
  body?: string | { base64: string };
}

/** Text, other bytes, or the checksum of a long body. */
export type AnswerBody = string | { base64: string } | { sha256: string; length: number; begins?: string };

export interface Answer {
  /** 0 if the connection broke before a response began. */
  status: number;
  /** In the original order and case, with repetitions. */
  headers: [name: string, value: string][];
  body: AnswerBody;
  /** Whether the connection broke before the response's end. */
  broken?: boolean;
}

export interface Entry {
  request: Request;
  answer: Answer;
}

export function readRecording(): Entry[] {
  return JSON.parse(readFileSync(FILE, "utf8"));
}

/** Writes one entry per line, so that a changed response is one changed line. */
export function writeRecording(entries: readonly Entry[]): void {
  writeFileSync(FILE, `[\n${entries.map((entry) => JSON.stringify(entry)).join(",\n")}\n]\n`);
}
