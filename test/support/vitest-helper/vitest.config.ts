import { defineConfig } from "vitest/config";

const reports = process.env["REPORTS"] ?? ".";

export default defineConfig({
  test: {
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
