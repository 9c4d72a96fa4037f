import type { AnyEvent } from "./event.ts";
import type { AnyOperation } from "./operation.ts";

/** All that is declared of the emulated API, for those who speak of it as a whole. */
export interface DeclaredApi {
  operations: readonly AnyOperation[];
  /** What receivers are called with: what webhooks can subscribe to, and 4.21's test. */
  events: readonly AnyEvent[];
}
