import { printable, printableLines } from "../engine/contract/text.ts";
import type { Check } from "../tools/verify/check.ts";
import type { CheckReport } from "../tools/verify/report.ts";
import { checkLines } from "./verify-text.ts";

export interface VerifyProgress {
  start(check: Check, place: { index: number; total: number }): void;
  end(report: CheckReport): void;
  waiting(milliseconds: number): void;
  close(): void;
}

const SILENT: VerifyProgress = { start() {}, end() {}, waiting() {}, close() {} };

/** On a terminal one line that says what runs; what failed or differs stays above it. */
export function verifyProgress(stream: NodeJS.WriteStream, live: boolean): VerifyProgress {
  if (!live) return SILENT;
  let current = "";
  const wipe = () => stream.write("\r\u001b[K");
  const draw = (text: string) => {
    wipe();
    stream.write(printable(text).slice(0, (stream.columns ?? 80) - 1));
  };
  return {
    start({ section, title }, { index, total }) {
      current = `[${index + 1}/${total}] ${section} ${title}`;
      draw(current);
    },
    end(report) {
      if (report.outcome !== "failed" && report.outcome !== "differs") return;
      wipe();
      stream.write(`${printableLines(checkLines(report).join("\n"))}\n`);
    },
    waiting(milliseconds) {
      draw(`${current} (waits ${Math.ceil(milliseconds / 1000)} s for the rate limit)`);
    },
    close() {
      wipe();
    },
  };
}
