import { fileURLToPath } from "node:url";

/** Where the scenarios are that come with Understudy: two steps up from src/faults/ and from dist/'s folders alike. */
export const SHIPPED_SCENARIOS = fileURLToPath(new URL("../../scenarios", import.meta.url));
