import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const reports = process.env["REPORTS"] ?? ".";

export default defineConfig({
  // Uses the built package, which Vitest does not translate, as in a user's project. It loads fast.
  resolve: {
    alias: [
      {
        find: /^(?:\.\.\/)+src\/client\/(\w+)\.ts$/,
        replacement: fileURLToPath(new URL("../../../dist/client/$1.js", import.meta.url)),
      },
    ],
  },
  test: {
    server: { deps: { external: [/\/dist\//] } },
    include: [process.env["SAMPLE"] ?? "sample.ts"],
    reporters: [
      ["json", { outputFile: `${reports}/report.json` }],
      ["junit", { outputFile: `${reports}/junit.xml` }],
      "default",
    ],
    attachmentsDir: `${reports}/attachments`,
    testTimeout: 60_000,
    maxWorkers: 1,
  },
});
