import { createRequire } from "node:module";

/** Starts the project's Chromium with its Playwright. @throws Error if there is none */
export async function openBrowser() {
  const root = new URL("../../", import.meta.url);
  const { chromium } = createRequire(new URL("package.json", root))("@playwright/test");
  const { findBrowser } = await import(new URL("scripts/browser.mjs", root).href);
  const executablePath = await findBrowser();
  if (executablePath === undefined) throw new Error("there is no Chromium here");
  return chromium.launch({ executablePath, args: ["--no-sandbox"] });
}
