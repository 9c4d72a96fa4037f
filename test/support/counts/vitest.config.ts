import { mergeConfig } from "vitest/config";
import base from "../../../vitest.config.ts";

/** The project's configuration, including reporters, for test/contract/counts-reporter.test.ts. */
const config = mergeConfig(base, { test: { maxWorkers: 1 } });
config.test.include = [`test/support/counts/${process.env["SAMPLE"]}.ts`];
export default config;
