import { ControlError } from "./http.ts";
import type { SandboxClient } from "./sandbox.ts";
import type { HistoryEntry, JournalEntry } from "./types.ts";

/** An attachment for the analysis of a failed test. */
export interface Evidence {
  file: string;
  contentType: string;
  body: string | Uint8Array;
}

const MAX_ENTRIES = 1000;

/** The attachments of a failed test (interfaces.md 13): journal with reasons, history, HAR, a bundle to replay, and the sandbox itself. */
export async function collectEvidence(sandbox: SandboxClient): Promise<Evidence[]> {
  const text = "text/plain";
  const json = "application/json";
  return [
    { file: "understudy-journal.txt", contentType: text, body: await formatJournal(sandbox) },
    { file: "understudy-history.txt", contentType: text, body: await formatHistory(sandbox) },
    { file: "understudy.har", contentType: json, body: JSON.stringify(await sandbox.journal.har()) },
    await attachBundle(sandbox),
    { file: SANDBOX_FILE, contentType: "application/x-understudy", body: await sandbox.export() },
  ];
}

/** The journal, newest first: a line for each request, with the reasons for its answer below. */
export async function formatJournal(sandbox: SandboxClient, limit = MAX_ENTRIES): Promise<string> {
  const { entries, total, dropped } = await sandbox.journal.list({ limit });
  const title = `Journal of sandbox ${sandbox.name}, newest first${dropped ? `, ${dropped} lost` : ""}:`;
  const olderCount = total - entries.length;
  return [title, ...entries.flatMap(toLines), ...(olderCount > 0 ? [`… and ${olderCount} before`] : [])].join(
    "\n",
  );
}

function toLines(entry: JournalEntry): string[] {
  return [formatRequestLine(entry), ...[...entry.reasons, ...entry.warnings].map((text) => `    ${text}`)];
}

export function formatRequestLine(
  { at, method, path, status, code, decision }: JournalEntry,
  query = "",
): string {
  const answer = status === 0 ? "no answer" : `${status}${code ? ` ${code}` : ""}`;
  return `${at} ${method} ${path}${query} -> ${answer} (${decision})`;
}

async function formatHistory(sandbox: SandboxClient): Promise<string> {
  const { entries } = await sandbox.history.list({ limit: MAX_ENTRIES });
  return [`History of sandbox ${sandbox.name}, newest first:`, ...entries.map(formatHistoryLine)].join("\n");
}

function formatHistoryLine({ id, at, kind, title, cause, undone }: HistoryEntry): string {
  const because = cause === null ? "" : `, because of ${cause}`;
  return `${at} ${id} ${kind}: ${title}${because}${undone ? " (undone)" : ""}`;
}

/** A journal that has lost entries gives no bundle; the reason is attached instead. */
async function attachBundle(sandbox: SandboxClient): Promise<Evidence> {
  try {
    const body = JSON.stringify(await sandbox.bundle());
    return { file: BUNDLE_FILE, contentType: "application/json", body };
  } catch (error) {
    if (!(error instanceof ControlError)) throw error;
    return { file: "understudy-no-bundle.txt", contentType: "text/plain", body: error.message };
  }
}

/** The file that `understudy open` takes. */
export const SANDBOX_FILE = "understudy-sandbox.understudy";
/** The file that `understudy replay` takes. */
export const BUNDLE_FILE = "understudy-bundle.json";
