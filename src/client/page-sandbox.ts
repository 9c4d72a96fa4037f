import type { BrowserEngine } from "../browser.ts";
import { openSandbox } from "./page-engine.ts";
import type { PageSandbox } from "./page-start.ts";
import type { PageWorker } from "./page-worker.ts";

export async function toPageSandbox(engine: BrowserEngine, page: PageWorker): Promise<PageSandbox> {
  const sandbox = Object.assign(await openSandbox(engine), {
    user: undefined as string | undefined,
    consoleUrl: `/_console/s/default/timeline?page=${page.client}`,
    actAs(name: string | undefined) {
      page.key = name === undefined ? undefined : sandbox.credentials[name as "usr_dan"];
      sandbox.user = name;
    },
    async stop() {
      await engine.close();
      await page.unregister();
    },
  });
  return sandbox;
}
