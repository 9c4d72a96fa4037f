import { readFileSync, writeFileSync } from "node:fs";

const FILE = new URL("./recording.json", import.meta.url);

export interface Request {
  method: string;
  path: string;
  headers: Record<string, string>;
  /** Bytes that are no UTF-8 text stand in base64. */
  body?: string | { base64: string };
}

/** Text, bytes that are no UTF-8 text, or the checksum of what is too long to be read. */
export type AnswerBody = string | { base64: string } | { sha256: string; length: number; begins?: string };

export interface Answer {
  /** 0 where the connection broke before an answer began. */
  status: number;
  /** As they came: order, case and repetitions are part of the answer. */
  headers: [name: string, value: string][];
  body: AnswerBody;
  /** Whether the connection broke before the answer's end. */
  broken?: boolean;
}

export interface Entry {
  request: Request;
  answer: Answer;
}

export function readRecording(): Entry[] {
  return JSON.parse(readFileSync(FILE, "utf8"));
}

/** Writes one entry a line, so that a change of one answer is a change of one line. */
export function writeRecording(entries: readonly Entry[]): void {
  writeFileSync(FILE, `[\n${entries.map((entry) => JSON.stringify(entry)).join(",\n")}\n]\n`);
}
