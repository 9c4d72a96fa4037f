// @vitest-environment happy-dom
import { testBytes } from "./any-environment.ts";

testBytes("happy-dom");
