import { expect, it } from "vitest";
import { createProgress } from "./run-suite-command.ts";

it.each([0, undefined, 80])(
  "a suite's progress is readable on a terminal of %s columns [interfaces 2]",
  (columns) => {
    const written: string[] = [];
    const stream = { columns, write: (text: string) => written.push(text) };
    const progress = createProgress(stream as never, 3, true);
    progress.start("lost-answer");
    progress.close();
    expect(written.join("")).toContain("0 of 3 done\n  … lost-answer  0.0 s\n");
  },
);
