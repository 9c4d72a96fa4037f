import { createRequire } from "node:module";
import type { Logger } from "pino";
import { toPrintableLines } from "../../engine/contract/text.ts";

/** Messages for the person who runs the server. */
export type Log = Pick<Logger, "error" | "warn">;

/** Writes warnings and errors to standard error. The logger is loaded with the first message: most runs have none. */
export function createStandardLog(level = "warn", destination?: { write(line: string): unknown }): Log {
  let logger: Logger | undefined;
  const loadLogger = () => {
    if (logger === undefined) {
      const { pino } = createRequire(import.meta.url)("pino") as typeof import("pino");
      const standardError = destination ?? pino.destination(2);
      // JSON leaves eight-bit control characters as they are, and terminals obey them.
      logger = pino({ level }, { write: (line: string) => void standardError.write(toPrintableLines(line)) });
    }
    return logger;
  };
  return {
    error: (...words: unknown[]) => loadLogger().error(...(words as [string])),
    warn: (...words: unknown[]) => loadLogger().warn(...(words as [string])),
  };
}
