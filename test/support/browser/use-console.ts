import type { Page } from "@playwright/test";
import { afterAll, afterEach, beforeAll } from "vitest";
import { type Api, startReference } from "../harness.ts";
import {
  type ConsoleOptions,
  type OpenedConsole,
  openConsole,
  recyclePage,
  WINDOW,
  waitForLive,
} from "./console.ts";
import { useChromium } from "./with-chromium.ts";

export interface ConsoleStage {
  /** The server. Set before the first test of the file. */
  api: Api;
  /** Opens the view at `?search` and waits for the live stream. Closed after the test. */
  open: (search?: string, options?: ConsoleOptions) => Promise<OpenedConsole>;
  /** Opens any address below `/_console` of any server, without waiting. */
  openAt: (address: string, options?: ConsoleOptions, base?: string) => Promise<OpenedConsole>;
  /**
   * Opens an address in a page that all tests of the file share, without a reload. A failed test's page is replaced.
   */
  walkTo: (address: string) => Promise<OpenedConsole>;
  /** Calls the control API of the sandbox. */
  control: (method: string, path: string, body?: unknown) => ReturnType<Api["call"]>;
}

/** Provides one server and one view per test file, and one browser per worker. */
export function useConsole(
  view: string,
  { sandbox = "default", ...options }: Parameters<typeof startReference>[0] & { sandbox?: string } = {},
): ConsoleStage {
  const chromium = useChromium();
  const api = {} as Api;
  const pages: Page[] = [];
  let walked: OpenedConsole | undefined;
  const leaveWalked = async () => {
    const left = walked?.page;
    walked = undefined;
    if (left) await recyclePage(left);
  };
  beforeAll(async () => {
    Object.assign(api, await startReference(options));
  });
  afterEach(async ({ task }) => {
    if (task.result?.state === "fail") await leaveWalked();
    await Promise.all(pages.splice(0).map(recyclePage));
  });
  afterAll(async () => {
    await leaveWalked();
    await api.close();
  });
  const openAt: ConsoleStage["openAt"] = async (address, options, base = api.url) => {
    const opened = await openConsole(chromium(), base, address, options);
    pages.push(opened.page);
    return opened;
  };
  return {
    api,
    openAt,
    walkTo: async (address) => {
      if (walked === undefined) {
        walked = await openConsole(chromium(), api.url, address);
        return walked;
      }
      await walked.page.setViewportSize(WINDOW);
      await walked.page.evaluate(`history.pushState(null, "", ${JSON.stringify(`/_console${address}`)})`);
      return walked;
    },
    open: async (search = "", options = {}) => {
      const opened = await openAt(`/s/${sandbox}/${view}${search}`, options);
      await waitForLive(opened.page);
      return opened;
    },
    control: (method, path, body) =>
      api.call(undefined, method, `/_control/sandboxes/${sandbox}${path}`, body),
  };
}
