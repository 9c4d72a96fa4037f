import { toShellWord } from "../../engine/contract/text.ts";
import { command, FORCE, group, number, OWN_FILES, text, texts } from "../command.ts";
import { printJson } from "../process.ts";
import { requireOutputFile, writeNewFile } from "../write-files.ts";

const check = command({
  command: "check <files..>",
  describe: "Check fixture files, or built-in fixtures by name",
  options: OWN_FILES,
  examples: [["$0 fixture check worlds/*.yaml", "Every problem with its line"]],
  async run({ files, ...ownFiles }) {
    const { checkFixtureFiles } = await import("../document-files.ts");
    return checkFixtureFiles(files, ownFiles);
  },
});

const generate = command({
  command: "generate",
  describe: "Generate a fixture file from a seed, with every record written out",
  options: {
    from: text("Fixture to start from"),
    seed: number("Seed of generated values", { default: 1 }),
    locale: text("Language and country of generated values, such as de or ja", { default: "en" }),
    count: texts(
      "LIST=N, such as users=20: how many records the list has in all, with those of --from; repeatable",
    ),
    out: text("File to write, instead of printing"),
    ...FORCE,
  },
  examples: [["$0 fixture generate --count users=20 --count departments=100 --out team.yaml", ""]],
  async run({ out, force, ...options }) {
    const { generateCheckedFixture } = await import("../make-documents.ts");
    if (out !== undefined) requireOutputFile(out, force);
    const { text: fixtureText, fixture } = await generateCheckedFixture({ ...options, out });
    if (out === undefined) return { value: fixture, text: fixtureText.trimEnd() };
    writeNewFile(out, fixtureText, { force });
    const option = `--fixture ${toShellWord(out)}`;
    return { value: { file: out }, text: `Wrote ${out}; start the server with ${option}.` };
  },
});

const schema = command({
  command: "schema",
  describe: "Print the JSON Schema of fixture files, for editors",
  examples: [["$0 fixture schema > fixture.schema.json", ""]],
  async run() {
    const { createFixtureSchema } = await import("../../engine/fixtures/fixture-schema.ts");
    const { RESOURCES } = await import("../../engine/resources/index.ts");
    printJson(createFixtureSchema(RESOURCES));
  },
});

export const fixtureCommand = group(
  "fixture",
  "Check, write and describe fixtures, without a server",
  [
    check,
    generate,
    createFromHarCommand("fixture", "Create a fixture from the records in a recording"),
    schema,
  ],
  ["$0 fixture check ./my.yaml", "Every problem with its line"],
);

/** Makes the command `from-har` of fixtures or of scenarios. */
export function createFromHarCommand(kind: "fixture" | "scenario", describe: string) {
  return command({
    command: "from-har <file>",
    describe,
    args: { file: "An HTTP Archive" },
    options: { out: text("File to write, instead of printing"), ...FORCE },
    examples: [[`$0 ${kind} from-har traffic.har --out seen.yaml`, ""]],
    async run(options) {
      const { writeFixture, writeScenario } = await import("../make-documents.ts");
      return kind === "fixture" ? writeFixture(options) : writeScenario(options);
    },
  });
}
