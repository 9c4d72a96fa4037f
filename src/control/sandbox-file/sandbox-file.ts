import { toUtf8 } from "../../engine/bytes.ts";
import type { OperationDocuments } from "../../engine/contract/resource.ts";
import { platform } from "../../engine/platform.ts";
import type { SavedJournalEntry } from "../../engine/sandbox/journal.ts";
import type { StoredStates } from "../../engine/sandbox/stored-states.ts";
import type { SavedSandbox } from "../../persistence/sandbox-rows.ts";
import type { BundleBody } from "../../tools/bundle/bundle.ts";
import { inventSecret, resolvePlaceholders } from "../../tools/bundle/secret-placeholders.ts";
import { Problem } from "../problem.ts";

export const SANDBOX_FILE_TYPE = "application/x-understudy";
const FORMAT = "understudy-world";
/** Raised by a change after which older releases cannot open new files. */
const FORMAT_VERSION = 1;
/** A history holds 32 MB of states, a journal 32 MB. */
export const MAX_FILE_BYTES = 64 * 1024 * 1024;
const MAX_CONTENT_BYTES = 256 * 1024 * 1024;

export interface StoredExchange extends Omit<SavedJournalEntry, "request_body" | "response_body"> {
  request_body?: BundleBody | undefined;
  response_body?: BundleBody | undefined;
}

/** A sandbox as a file (interfaces.md 19), before compression; placeholders replace its secrets. */
export interface SandboxFile {
  format: typeof FORMAT;
  version: number;
  /** The release that wrote it. */
  understudy: string;
  name: string;
  content: {
    saved: SavedSandbox;
    states: StoredStates;
    /** Bytes of half-finished uploads, as in a snapshot. */
    uploads?: unknown;
    scenarios: { name: string; document: object }[];
    /** The files of the server's own operations; those that are code have no content. */
    operations: { source: string; sha256?: string; content?: OperationDocuments }[];
  };
  journal: { dropped: number; entries: StoredExchange[] };
}

/** @param content as JSON, with placeholders */
export async function packSandboxFile(
  { understudy, name }: Pick<SandboxFile, "understudy" | "name">,
  content: string,
  journal: SandboxFile["journal"],
): Promise<Uint8Array> {
  const head = JSON.stringify({ format: FORMAT, version: FORMAT_VERSION, understudy, name }).slice(0, -1);
  const text = `${head},"content":${content},"journal":${JSON.stringify(journal)}}`;
  return platform().gzip(toUtf8(text));
}

/** @throws Problem 422, one sentence about the file */
export async function unpackSandboxFile(bytes: Uint8Array): Promise<SandboxFile> {
  if (bytes.length > MAX_FILE_BYTES)
    throw unreadable(`is ${bytes.length} bytes long; at most ${MAX_FILE_BYTES} can be opened`);
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b)
    throw unreadable("was not written by `understudy sandbox export`");
  const text = await decompress(bytes);
  let value: Partial<SandboxFile>;
  try {
    value = JSON.parse(resolvePlaceholders(text, toSecret)) ?? {};
  } catch {
    throw unreadable("was not written by `understudy sandbox export`");
  }
  const { format, version, understudy, name } = value;
  if (format !== FORMAT || typeof version !== "number" || typeof name !== "string")
    throw unreadable("was not written by `understudy sandbox export`");
  if (version > FORMAT_VERSION)
    throw unreadable(
      `has version ${version}, written by Understudy ${understudy}; this one reads up to version ${FORMAT_VERSION}: update it`,
    );
  return value as SandboxFile;
}

export function unreadable(predicate: string): Problem {
  return new Problem("invalid-input", { detail: `The file ${predicate}.`, field: "file" });
}

async function decompress(bytes: Uint8Array): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let length = 0;
  try {
    for await (const chunk of platform().gunzip(bytes)) {
      length += chunk.length;
      if (length > MAX_CONTENT_BYTES) break;
      text += decoder.decode(chunk, { stream: true });
    }
  } catch {
    throw unreadable("is damaged or incomplete; copy it again");
  }
  if (length > MAX_CONTENT_BYTES)
    throw unreadable(`holds more than ${MAX_CONTENT_BYTES / 1024 ** 2} MB; it was not written by Understudy`);
  return text;
}

/** The secret of a placeholder, the same at each place of the file: of kind `given`, `k0:40` is an API key of 40 characters. */
function toSecret(kind: string, name: string): string {
  const length = Number(/(\d+)$/.exec(name)?.[1] ?? 0);
  const prefix = name.startsWith("k") ? "ak_" : name.startsWith("w") ? "whsec_" : "";
  return kind === "given"
    ? prefix + inventSecret(name, length - prefix.length)
    : inventSecret(`${kind}:${name}`, length);
}
