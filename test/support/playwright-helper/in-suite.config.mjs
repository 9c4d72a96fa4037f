export default {
  testMatch: ["in-suite.spec.mjs"],
  workers: 1,
  retries: 1,
  outputDir: `${process.env.REPORTS ?? "."}/results`,
  projects: [{ name: "phone" }, { name: "desktop" }],
};
