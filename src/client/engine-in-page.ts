import type { LocalSandbox } from "./engine.ts";
import { requireKnownOptions } from "./options.ts";
import { openPageEngine, openSandbox } from "./page-engine.ts";
import { PAGE_START_OPTIONS, type PageStart } from "./page-start.ts";

/** `understudy-sandbox/engine` for pages and workers. @throws as `createSandbox` of Node; Error if another tab has another version */
export async function createSandbox(options: PageStart = {}): Promise<LocalSandbox> {
  requireKnownOptions("createSandbox", options, PAGE_START_OPTIONS);
  const engine = await openPageEngine(options);
  return Object.assign(await openSandbox(engine), { close: () => engine.close() });
}
