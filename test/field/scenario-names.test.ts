import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { createTempFolder, removeTempFolders, runCommand } from "../support/run-understudy.ts";

afterAll(removeTempFolders);

const RULES = "rules: [{ match: { operation: models.list }, effect: { status: 503 } }]\n";

it("scenario check reports files of which only one can be used, as they have the same name [interfaces 6]", async () => {
  const folder = createTempFolder();
  const write = (name: string, text: string) => {
    const file = join(folder, name);
    writeFileSync(file, text);
    return file;
  };
  const files = [
    write("flaky.yaml", RULES),
    write("flaky.yml", RULES),
    write("other.yaml", `name: flaky\n${RULES}`),
    write("third.yaml", RULES),
  ];
  const { code, stdout } = await runCommand(["scenario", "check", ...files]);
  const [first, ...rest] = files;
  const warned = rest
    .slice(0, 2)
    .map((file) => `warning: ${file}:1:1: the scenario is called flaky, as the one in ${first};`);
  for (const warning of warned) expect(stdout).toContain(warning);
  expect(stdout.match(/warning:/g)).toHaveLength(2);
  expect(code).toBe(0);
});
