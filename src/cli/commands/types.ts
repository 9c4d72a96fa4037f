import { command, FORCE, text, texts } from "../command.ts";
import { UsageError } from "../failure.ts";
import { writeNewFile } from "../write-files.ts";

export const typesCommand = command({
  command: "types",
  describe: "Print TypeScript types of your own operations, collections and events",
  options: {
    operations: texts("Files or folders of declarations"),
    openapi: texts("OpenAPI documents, or their bindings"),
    out: text("File to write; without it, prints"),
    ...FORCE,
  },
  examples: [["$0 types --operations operations --out types.ts", "For a typed client"]],
  async run({ operations, openapi, out, force }) {
    if (operations === undefined && openapi === undefined)
      throw new UsageError("types needs --operations or --openapi");
    const { loadOwn, openOwnFiles } = await import("../../documents/own-files.ts");
    const { createOwnApi } = await import("../../engine/own/join.ts");
    const { ownTypes } = await import("../../tools/reports/own-types.ts");
    const { api } = createOwnApi(await loadOwn(await openOwnFiles({ operations, openapi })));
    const types = ownTypes(api);
    if (out === undefined) return { value: { types }, text: types.trimEnd() };
    writeNewFile(out, types, { force });
    return { value: { file: out }, text: `${out} written` };
  },
});
