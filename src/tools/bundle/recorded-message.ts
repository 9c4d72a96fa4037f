import { toLatin1 } from "../../engine/bytes.ts";
import { isForm } from "../../engine/contract/secret-names.ts";
import { type JournalEntry, responseHeaders } from "../../engine/sandbox/journal-entry.ts";
import type { BundleAnswer, BundleBody } from "./bundle.ts";
import type { Vault } from "./vault.ts";

/** interfaces 5: outside the promise of equal bytes, or the connection's own business. */
const NOT_COMPARED = new Set(["date", "service-processing-ms", "connection", "keep-alive"]);

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The answer of a journal entry, its secrets by name. The same of a replay is compared with it. */
export function recordedAnswer(entry: JournalEntry, number: number, vault: Vault): BundleAnswer {
  const headers: [string, string][] = [];
  const sent = responseHeaders(entry);
  for (let i = 0; i + 1 < sent.length; i += 2) {
    const name = sent[i]!;
    if (!NOT_COMPARED.has(name.toLowerCase())) headers.push([name, sent[i + 1]!]);
  }
  const content = textOf(entry.response_body);
  vault.learn(number, headers.map(([, value]) => value).join("\n"));
  if (content !== undefined) vault.learn(number, content.text);
  const { streamed } = entry;
  return {
    status: entry.status,
    headers: headers.map(([name, value]) => [name, vault.named(value)]),
    ...(content === undefined ? {} : { body: bodyOf(content, (text) => vault.named(text)) }),
    ...(typeof streamed === "object" && content === undefined ? { digest: streamed } : {}),
    ...(streamed === "under way" || streamed === "cut" ? { open: true } : {}),
  };
}

export function recordedBody(
  bytes: Uint8Array | string | undefined,
  vault: Vault,
  type?: string,
): BundleBody | undefined {
  const content = textOf(bytes);
  return content && bodyOf(content, (text) => (isForm(type) ? vault.sentForm(text) : vault.sent(text)));
}

interface Content {
  text: string;
  encoding: "text" | "latin1";
}

function textOf(bytes: Uint8Array | string | undefined): Content | undefined {
  if (bytes === undefined || bytes.length === 0) return undefined;
  if (typeof bytes === "string") return { text: bytes, encoding: "text" };
  try {
    return { text: utf8.decode(bytes), encoding: "text" };
  } catch {
    return { text: toLatin1(bytes), encoding: "latin1" };
  }
}

function bodyOf({ text, encoding }: Content, masked: (text: string) => string): BundleBody {
  return encoding === "text" ? { text: masked(text) } : { latin1: masked(text) };
}
