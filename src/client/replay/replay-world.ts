import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Settings } from "../../engine/contract/settings.ts";
import type { Sandbox } from "../../engine/sandbox/sandbox.ts";
import type { Bundle } from "../../tools/bundle/bundle.ts";
import { assemble, type ReplaySeams } from "../../understudy.ts";

export interface ReplayWorld {
  sandbox: Sandbox;
  url: string;
  port: number;
  close(): Promise<void>;
}

/**
 * The world of a bundle on its first day, in a server of its own on a free port. Its clock stands still: the
 * bundle says what it showed at each step.
 * @throws DocumentError when this Understudy does not take the bundle's fixture or scenarios
 */
export async function replayWorld(
  bundle: Bundle,
  fixture: object,
  replay: ReplaySeams,
): Promise<ReplayWorld> {
  const folder = mkdtempSync(join(tmpdir(), "understudy-replay-"));
  bundle.scenarios.forEach(({ document }, i) => {
    writeFileSync(join(folder, `${i}.json`), JSON.stringify(document));
  });
  const now = Date.parse(bundle.clock.start);
  const day = { fixture, seed: bundle.seed, clock: { mode: "frozen" as const, now } };
  const settings = bundle.settings as Partial<Settings>;
  const understudy = assemble({ ...day, settings, scenariosFolder: folder, delay: bundle.delay, replay });
  const { sandboxes } = understudy;
  const close = async () => {
    await understudy.close();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const own = bundle.sandbox === "default" ? sandboxes.get("default") : undefined;
    const sandbox = own ?? sandboxes.create({ name: bundle.sandbox, ...day, settings });
    if (bundle.resets > 0) sandbox.reset({ resets: bundle.resets });
    sandbox.faults.setScenarios(bundle.active, true);
    const url = await understudy.listen(0, "127.0.0.1");
    return { sandbox, url, port: Number(new URL(url).port), close };
  } catch (error) {
    await close();
    throw error;
  }
}
