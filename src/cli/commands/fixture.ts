import type { CommandModule } from "yargs";
import { requireFile, writeNewFile } from "../new-files.ts";
import { print } from "../output.ts";
import { fromHarCommand } from "./from-har.ts";

interface CheckOptions {
  files: string[];
  json: boolean;
}

interface GenerateFlags {
  from: string | undefined;
  seed: number;
  locale: string;
  count: string[] | undefined;
  out: string | undefined;
  force: boolean;
  json: boolean;
}

export const fixtureCommand: CommandModule = {
  command: "fixture",
  describe: "Check, write and describe fixtures, without a server",
  builder: (argv) =>
    argv
      .command({
        command: "check <files..>",
        describe: "Check fixture files, or shipped fixtures by name",
        builder: (check) => check.example("$0 fixture check worlds/*.yaml", "Every problem with its line"),
        async handler({ files, json }: CheckOptions) {
          const { checkFixtureFiles } = await import("../check-files.ts");
          await checkFixtureFiles(files, json);
        },
      } as CommandModule<object, CheckOptions>)
      .command({
        command: "generate",
        describe: "Write a fixture with every record written out, from a seed",
        builder: (generate) =>
          generate
            .option("from", { type: "string", requiresArg: true, describe: "Fixture to start from" })
            .option("seed", {
              type: "number",
              default: 1,
              requiresArg: true,
              describe: "Seed of what is made up",
            })
            .option("locale", {
              type: "string",
              default: "en",
              requiresArg: true,
              describe: "Language and country of what is made up, such as de or ja",
            })
            .option("count", {
              type: "string",
              array: true,
              requiresArg: true,
              describe: "LIST=N, how many records in all; repeatable",
            })
            .option("out", {
              type: "string",
              requiresArg: true,
              describe: "File to write, instead of printing",
            })
            .option("force", { type: "boolean", default: false, describe: "Replace a file that exists" })
            .example("$0 fixture generate --count users=20 --count departments=100 --out team.yaml", ""),
        async handler(flags: GenerateFlags) {
          const { generatedFixture } = await import("../generated-fixture.ts");
          if (flags.out !== undefined) requireFile(flags.out);
          const { text, fixture } = await generatedFixture(flags);
          if (flags.out === undefined) return print(flags.json, fixture, text.trimEnd());
          writeNewFile(flags.out, text, { force: flags.force });
          print(flags.json, { file: flags.out }, `Wrote ${flags.out}; start it with --fixture ${flags.out}.`);
        },
      } as CommandModule<object, GenerateFlags>)
      .command(fromHarCommand("fixture", "Write what a recording showed, as a fixture"))
      .command({
        command: "schema",
        describe: "Print the JSON Schema of fixture files, for editors",
        builder: (schema) => schema.example("$0 fixture schema > fixture.schema.json", ""),
        async handler() {
          const [{ fixtureSchema }, { RESOURCES }] = await Promise.all([
            import("../../engine/fixtures/fixture-schema.ts"),
            import("../../engine/resources/index.ts"),
          ]);
          print(true, fixtureSchema(RESOURCES), "");
        },
      } as CommandModule)
      .demandCommand(1, "fixture needs an action: check, generate, from-har or schema")
      .example("$0 fixture check ./my.yaml", "Without a server"),
  handler: () => {},
};
