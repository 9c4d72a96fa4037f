// @vitest-environment node
import { testBytes } from "./any-environment.ts";

testBytes("node");
