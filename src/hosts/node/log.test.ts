import { expect, it } from "vitest";
import { createStandardLog } from "./log.ts";

it("names chosen by users cannot control the terminal that shows the log [interfaces 2]", () => {
  const lines: string[] = [];
  const log = createStandardLog("warn", { write: (line) => lines.push(line) });
  const name = "\u001b[2J\u009b31m\u0090q\u202ename\nsecond";
  log.warn(`The scenario ${name} no longer exists.`);
  log.error({ err: new Error(name) }, "internal error");
  expect(lines).toHaveLength(2);
  for (const line of lines) {
    expect(line).toMatch(/^\{[^\u0000-\u001f\u007f-\u009f\u202a-\u202e]*\}\n$/);
    expect(JSON.stringify(JSON.parse(line))).toContain(JSON.stringify(name).slice(1, -1));
  }
});
