const launch = { executablePath: process.env.CHROME_PATH };
// Vitest 3 names its provider; later versions import it.
const { playwright } = await import("@vitest/browser-playwright").catch(() => ({}));
const browser = playwright
  ? { provider: playwright({ launchOptions: launch }), instances: [{ browser: "chromium" }] }
  : { provider: "playwright", instances: [{ browser: "chromium", launch }] };
export default {
  test: {
    include: ["page.test.ts"],
    browser: { enabled: true, headless: true, screenshotFailures: false, ...browser },
  },
};
