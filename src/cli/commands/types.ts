import { findNamedSandbox } from "../../client/http.ts";
import { command, connectTo, FORCE, OWN_FILES, text } from "../command.ts";
import type { OwnOptions } from "../document-files.ts";
import { UsageError } from "../failure.ts";
import { writeNewFile } from "../write-files.ts";

export const typesCommand = command({
  command: "types",
  describe: "Print TypeScript types of your own operations, collections and events",
  options: {
    ...OWN_FILES,
    url: text("A running server, in place of files"),
    sandbox: text("Its sandbox; by default the one that the URL names, else `default`", { implies: "url" }),
    token: text("Control token of a shared server (or UNDERSTUDY_TOKEN)", { implies: "url" }),
    out: text("File to write, instead of printing"),
    ...FORCE,
  },
  examples: [["$0 types --operations operations --out types.ts", "For a typed client"]],
  async run({ operations, openapi, url, sandbox, token, out, force }) {
    const readsFiles = operations !== undefined || openapi !== undefined;
    const readsServer = url !== undefined;
    if (readsFiles === readsServer)
      throw new UsageError("types reads either files (--operations, --openapi) or a server (--url)");
    const types = await (url === undefined
      ? generateTypes({ operations, openapi })
      : fetchTypes(url, { sandbox, token }));
    if (out === undefined) return { value: { types }, text: types.trimEnd() };
    writeNewFile(out, types, { force });
    return { value: { file: out }, text: `Wrote ${out}.` };
  },
});

async function fetchTypes(
  url: string,
  { sandbox, token }: { sandbox: string | undefined; token: string | undefined },
): Promise<string> {
  const client = await connectTo({ url, token }).open(sandbox ?? findNamedSandbox(url) ?? "default");
  return client.operations.types();
}

async function generateTypes(files: OwnOptions): Promise<string> {
  const { loadOwnSources, openOwnFiles } = await import("../../documents/own-files.ts");
  const { createJoinedApi } = await import("../../engine/own/join.ts");
  const { generateOwnTypes } = await import("../../tools/reports/own-types.ts");
  return generateOwnTypes(createJoinedApi(await loadOwnSources(await openOwnFiles(files))).api);
}
