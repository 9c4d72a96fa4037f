import { mergeConfig } from "vitest/config";
import base from "../../vitest.config.ts";

/** For `npm run mutate`, which says which tests could notice a change; one that is noticed once is noticed. */
const config = mergeConfig(base, { test: { reporters: ["dot"], retry: 0, isolate: true } });
config.test.include = process.env["MUTATION_TESTS"]!.split(",");
export default config;
