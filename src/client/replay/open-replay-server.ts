import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ReplayHooks, Understudy } from "../../control/understudy-options.ts";
import type { Settings } from "../../engine/contract/settings.ts";
import type { OperationSource } from "../../engine/own/join.ts";
import type { Sandbox } from "../../engine/sandbox/sandbox.ts";
import type { Bundle } from "../../tools/bundle/bundle.ts";
import { assemble } from "../../understudy.ts";

export interface ReplayServer {
  sandbox: Sandbox;
  url: string;
  port: number;
  close(): Promise<void>;
}

/**
 * Starts a server on a free port, whose sandbox has the initial world of a bundle. Its clock is frozen: the bundle has
 * the instant of each step.
 * @throws DocumentError if this version refuses the bundle's fixture or scenarios
 */
export async function openReplayServer(
  bundle: Bundle,
  fixture: object,
  options: { replay: ReplayHooks; operations: readonly OperationSource[] },
): Promise<ReplayServer> {
  const folder = mkdtempSync(join(tmpdir(), "understudy-replay-"));
  let understudy: Understudy | undefined;
  const close = async () => {
    await understudy?.close();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    bundle.scenarios.forEach(({ document }, i) => {
      writeFileSync(join(folder, `${i}.json`), JSON.stringify(document), { mode: 0o600 });
    });
    const now = Date.parse(bundle.clock.start);
    const clock = { mode: "frozen" as const, now };
    const start = { fixture, seed: bundle.seed, clock, settings: bundle.settings as Partial<Settings> };
    understudy = assemble({ ...start, scenariosFolder: folder, delay: bundle.delay, ...options });
    const { sandboxes } = understudy;
    const existing = bundle.sandbox === "default" ? sandboxes.get("default") : undefined;
    const sandbox = existing ?? sandboxes.create({ name: bundle.sandbox, ...start });
    if (bundle.resets > 0) sandbox.reset({ resets: bundle.resets });
    // Every hold ends at once: no call of a replay releases it, and its answer was recorded.
    sandbox.held.holdsRequests = false;
    if (bundle.document !== undefined) {
      const { readSentOperations } = await import("../../documents/openapi/read-sent-document.ts");
      sandbox.setResources(readSentOperations(bundle.document, sandbox.api.resources).ownResources);
    }
    sandbox.faults.setInitialScenarios(bundle.active);
    const url = await understudy.listen(0, "127.0.0.1");
    return { sandbox, url, port: Number(new URL(url).port), close };
  } catch (error) {
    await close();
    throw error;
  }
}
