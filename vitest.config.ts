import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    pool: "forks",
    reporters: ["default", "./test/counts-reporter.ts"],
    testTimeout: 20_000,
    hookTimeout: 30_000,
    // A skipped or focused test is a failure of CI, not a detail (see scripts/ci.ts).
    allowOnly: false,
    env: { TZ: "UTC", NODE_ENV: "test" },
  },
});
