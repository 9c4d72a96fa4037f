import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { generateFiles } from "../../src/control/generated-files.ts";

const written = (name: string) =>
  readFileSync(new URL(`../../docs/${name}`, import.meta.url), "utf8").split("\n");

/** `npm run generate -- --check` without a build; the library's types, which take seconds, are left to that. */
it("the generated documents under docs/ match the declarations [interfaces 11]", async () => {
  const files = await generateFiles((name) => written(name).join("\n"));
  expect(Object.keys(files)).toContain("control-api.json");
  for (const [name, text] of Object.entries(files)) {
    const [now, then] = [text.split("\n"), written(name)];
    // The first line that differs: a comparison of ten thousand lines shows nobody anything.
    const line = now.findIndex((one, i) => one !== then[i]);
    expect([now.length, now[line]], `${name}:${line + 1}`).toEqual([then.length, then[line]]);
  }
});
