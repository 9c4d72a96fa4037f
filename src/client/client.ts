/* The library without a server of its own, for pages and workers as well as Node. */
export { connect, UnderstudyClient } from "./connect.ts";
export { ControlError, UnreachableError } from "./http.ts";
export { SandboxClient } from "./sandbox.ts";
export type * from "./types.ts";
