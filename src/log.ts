import { createRequire } from "node:module";
import type { Logger } from "pino";

/** What the server's parts say to whoever runs it. */
export type Log = Pick<Logger, "error" | "warn" | "info">;

/**
 * Writes warnings and errors to standard error. The logger itself is loaded with the first of them, since most
 * runs have none and its start would be paid by all.
 */
export function standardLog(level = "warn"): Log {
  let logger: Logger | undefined;
  const loaded = () => {
    if (logger === undefined) {
      const { pino } = createRequire(import.meta.url)("pino") as typeof import("pino");
      logger = pino({ level }, pino.destination(2));
    }
    return logger;
  };
  return {
    error: (...words: unknown[]) => loaded().error(...(words as [string])),
    warn: (...words: unknown[]) => loaded().warn(...(words as [string])),
    info: (...words: unknown[]) => (level === "info" ? loaded().info(...(words as [string])) : undefined),
  };
}
