import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Lists Node modules that a bundle for browsers would import, and bare imports, which browsers cannot resolve. */
async function listForeignImports(input: string, allowed: RegExp): Promise<string[]> {
  const found = new Set<string>();
  const bundle = await rolldown({
    cwd: ROOT,
    input,
    platform: "browser",
    logLevel: "silent",
    external: (id, importer) => {
      if (!id.startsWith("node:")) return false;
      found.add(`${relative(ROOT, importer ?? "")} imports ${id}`);
      return true;
    },
  });
  const { output } = await bundle.generate({ format: "esm" });
  await bundle.close();
  const bare = output.flatMap((file) => (file.type === "chunk" ? file.imports : []));
  for (const name of bare.filter((one) => !one.endsWith(".js") && !one.startsWith("node:"))) found.add(name);
  return [...found].filter((one) => !allowed.test(one));
}

it("the engine bundles for a browser and imports nothing of Node", { timeout: 60_000 }, async () => {
  expect(await listForeignImports("src/engine/index.ts", /^$/)).toEqual([]);
});

/**
 * Files that may import Node: the file system has a substitute for browsers, and the others load only when an
 * operation needs Node.
 */
const BY_NODE = /^src\/(documents\/node-files|hosts\/node\/|tools\/(grader|har)\/)|^node_modules\//;

it("the control API bundles for a browser, and only its operations for Node load Node", {
  timeout: 60_000,
}, async () => {
  expect(await listForeignImports("src/control/handle-control.ts", BY_NODE)).toEqual([]);
});
