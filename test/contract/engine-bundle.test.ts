import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

it("the engine bundles for a browser and imports nothing of Node", async () => {
  const found = new Set<string>();
  const bundle = await rolldown({
    cwd: ROOT,
    input: "src/engine/index.ts",
    platform: "browser",
    logLevel: "silent",
    external: (id, importer) => {
      const isNode = id.startsWith("node:");
      if (isNode) found.add(`${relative(ROOT, importer ?? "")} imports ${id}`);
      return isNode;
    },
  });
  const { output } = await bundle.generate({ format: "esm" });
  await bundle.close();
  expect([...found]).toEqual([]);
  const bare = output.flatMap((file) => (file.type === "chunk" ? file.imports : []));
  expect(bare.filter((name) => !name.endsWith(".js") && !name.startsWith("node:"))).toEqual([]);
}, 30_000);
