// Generates a client from each of the OpenAPI documents with each generator and compiles it:
//   npm run matrix -- [NAME ...]
import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const here = fileURLToPath(new URL(".", import.meta.url));
const bin = (name) => join(here, "node_modules/.bin", name);

const DOCUMENTS = { "emulated API": "openapi.json", "control API": "control-api.json" };

/** Each writes TypeScript files into `out`. */
export const GENERATORS = {
  "openapi-typescript": (document, out) =>
    run(bin("openapi-typescript"), [document, "-o", join(out, "api.ts")]),
  "openapi-fetch": async (document, out) => {
    await run(bin("openapi-typescript"), [document, "-o", join(out, "api.ts")]);
    writeFileSync(
      join(out, "client.ts"),
      'import createClient from "openapi-fetch";\nimport type { paths } from "./api.ts";\nexport const client = createClient<paths>({ baseUrl: "http://127.0.0.1:4747" });\n',
    );
  },
  orval: (document, out) =>
    run(bin("orval"), ["--input", document, "--output", join(out, "api.ts"), "--client", "fetch"]),
  "hey-api": (document, out) =>
    run(bin("openapi-ts"), ["-i", document, "-o", join(out, "api"), "-c", "@hey-api/client-fetch"]),
  "swagger-typescript-api": (document, out) =>
    run(bin("swagger-typescript-api"), ["generate", "-p", document, "-o", out, "-n", "api.ts"]),
  "openapi-zod-client": (document, out) =>
    run(bin("openapi-zod-client"), [document, "-o", join(out, "api.ts")]),
};

export const COMPILE = [
  ...["--noEmit", "--strict", "--skipLibCheck", "--target", "es2022", "--module", "esnext"],
  ...["--moduleResolution", "bundler", "--allowImportingTsExtensions", "--lib", "es2023,dom,dom.iterable"],
];

if (process.argv[1] === fileURLToPath(import.meta.url)) await compileAll(process.argv.slice(2));

async function compileAll(wanted) {
  const names = Object.keys(GENERATORS).filter((name) => wanted.length === 0 || wanted.includes(name));
  let failed = 0;
  for (const name of names) {
    for (const [title, file] of Object.entries(DOCUMENTS)) {
      // In this folder, so that imports of the generated files are found.
      const out = mkdtempSync(join(here, "out-"));
      const began = performance.now();
      try {
        await GENERATORS[name](join(here, "../docs", file), out);
        await run(bin("tsc"), [...COMPILE, ...listSources(out)], { maxBuffer: 1e8 });
        console.log(`ok    ${name}, ${title} (${Math.round((performance.now() - began) / 100) / 10} s)`);
      } catch (error) {
        failed += 1;
        const text = `${error.stdout ?? ""}${error.stderr ?? ""}` || String(error);
        console.log(`FAIL  ${name}, ${title}\n${text.split("\n").slice(0, 12).join("\n")}`);
      }
      rmSync(out, { recursive: true, force: true });
    }
  }
  process.exitCode = failed > 0 ? 1 : 0;
}

function listSources(folder) {
  return readdirSync(folder, { recursive: true })
    .filter((path) => path.endsWith(".ts"))
    .map((path) => join(folder, path));
}
