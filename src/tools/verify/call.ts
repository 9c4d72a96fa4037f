import type { AnyOperation } from "../../engine/contract/operation.ts";

/** One request, as far as it differs from the declaration: the key's, no query, no body. */
export interface Call {
  /** Absent for a path that nobody declares. */
  operation?: AnyOperation;
  method?: string;
  /** Instead of the operation's path. */
  path?: string;
  /** Instead of target and path: an upload's URL, which may lie on another host and takes no credential. */
  url?: string;
  params?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, string | number>>;
  /** A form, text or bytes go as they are; anything else as JSON. */
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
  /** `key` by default; headers that stand in its place. */
  credential?: "key" | "none" | Readonly<Record<string, string>>;
  /** Ends the request after the first server-sent event. */
  firstEvent?: boolean;
}
