import type { BrowserEngine } from "../browser.ts";
import { openSandbox } from "./page-engine.ts";
import type { PageSandbox } from "./page-start.ts";
import type { PageWorker } from "./page-worker.ts";
import { requireKey } from "./sandbox.ts";

export async function toPageSandbox(engine: BrowserEngine, page: PageWorker): Promise<PageSandbox> {
  const sandbox = Object.assign(await openSandbox(engine), {
    user: undefined as string | undefined,
    // Its files are beside the worker's.
    consoleUrl: new URL(`_console/s/default/timeline?page=${page.client}`, page.url).href,
    actAs(name: string | undefined) {
      page.key = name === undefined ? undefined : requireKey(sandbox.credentials, name);
      sandbox.user = name;
    },
    async stop() {
      await page.stop();
      await engine.close();
    },
  });
  return sandbox;
}
