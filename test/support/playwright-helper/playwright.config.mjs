const reports = process.env.REPORTS ?? ".";

export default {
  testMatch: ["sample.spec.mjs"],
  workers: 1,
  outputDir: `${reports}/results`,
  use: { understudy: { seed: 7 } },
  reporter: [
    ["json", { outputFile: `${reports}/report.json` }],
    ["junit", { outputFile: `${reports}/junit.xml` }],
  ],
};
