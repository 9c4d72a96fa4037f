import type { ScenarioResult } from "../client/suite/suite-result.ts";
import { printable, printableLines } from "../engine/contract/printable.ts";

export interface SuiteProgress {
  start(name: string): void;
  end(result: ScenarioResult): void;
  close(): void;
}

const REDRAW_MS = 200;

/** On a terminal one line for each scenario that runs; elsewhere a line when one ends. */
export function suiteProgress(stream: NodeJS.WriteStream, total: number, live: boolean): SuiteProgress {
  const running = new Map<string, number>();
  let done = 0;
  let drawn = 0;
  const wipe = () => {
    if (drawn > 0) stream.write(`\u001b[${drawn}A\u001b[J`);
    drawn = 0;
  };
  const draw = () => {
    wipe();
    // A terminal without a size, as in some containers, says 0.
    const width = (stream.columns || 80) - 1;
    const lines = [...running].map(([name, since]) => `  … ${name}  ${elapsed(performance.now() - since)}`);
    const all = running.size === 0 ? [] : [`${done} of ${total} done`, ...lines];
    for (const line of all) stream.write(`${printable(line).slice(0, width)}\n`);
    drawn = all.length;
  };
  const timer = live ? setInterval(draw, REDRAW_MS) : undefined;
  return {
    start(name) {
      running.set(name, performance.now());
      if (live) draw();
    },
    end(result) {
      running.delete(result.name);
      done += 1;
      if (live) wipe();
      stream.write(`${printableLines(line(result))}\n`);
      if (live) draw();
    },
    close() {
      clearInterval(timer);
      if (live) wipe();
    },
  };
}

function line({ outcome, name, duration_ms, failures }: ScenarioResult): string {
  const why = failures.length === 0 ? "" : `: ${failures.join("; ")}`;
  return `${outcome === "passed" ? "ok  " : "FAIL"} ${name} (${elapsed(duration_ms)})${why}`;
}

function elapsed(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}
