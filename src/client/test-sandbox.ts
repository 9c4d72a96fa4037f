import { connect, type UnderstudyClient } from "./connect.ts";
import { createUnderstudy } from "./create-understudy.ts";
import type { SandboxClient } from "./sandbox.ts";

/** The server tests share: the one that a suite named in the environment, else one of their own. */
export async function testServer(): Promise<{ understudy: UnderstudyClient; close: () => Promise<void> }> {
  const running = process.env["UNDERSTUDY_URL"];
  if (running) return { understudy: connect(running), close: async () => {} };
  const understudy = await createUnderstudy();
  return { understudy, close: () => understudy.close() };
}

/** An armed fault that never struck proves nothing; the test that armed it should fail. Probability 0 is off. */
export async function unhitFaults(sandbox: SandboxClient): Promise<string[]> {
  const { items } = await sandbox.faults.list();
  const armed = items.filter(({ probability }) => probability !== 0);
  return armed.filter(({ hits }) => hits === 0).map(({ id, match }) => `${id} ${JSON.stringify(match)}`);
}

/** What a failed test wants to show: the journal, newest first, a line a request. */
export async function journalText(sandbox: SandboxClient): Promise<string> {
  const { entries, dropped } = await sandbox.journal.list({ limit: 200 });
  const lines = entries.map(
    ({ at, method, path, status, code, decision }) =>
      `${at} ${method} ${path} -> ${status}${code ? ` ${code}` : ""} (${decision})`,
  );
  return [
    `Journal of sandbox ${sandbox.name}, newest first${dropped ? `, ${dropped} lost` : ""}:`,
    ...lines,
  ].join("\n");
}
