// @vitest-environment jsdom
import { testBytes } from "./any-environment.ts";

testBytes("jsdom");
