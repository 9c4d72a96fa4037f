import { isPath } from "../documents/files.ts";
import { checkFixture } from "../documents/fixture-library.ts";
import { ScenarioLibrary } from "../documents/scenario-library.ts";
import { DocumentError } from "../engine/documents/document-error.ts";
import { API, RESOURCES } from "../engine/resources/index.ts";
import { expandFiles } from "./expand-files.ts";
import { EXIT_FAILED } from "./failure.ts";
import { print } from "./output.ts";

type Check = (file: string) => DocumentError | undefined;

/** What is wrong with fixtures, given by name or by path. Sets the exit code. */
export async function checkFixtureFiles(patterns: readonly string[], json: boolean): Promise<void> {
  const files = patterns.flatMap((pattern) => (isPath(pattern) ? expandFiles([pattern]) : [pattern]));
  checkFiles(files, json, (file) => checkFixture(file, { resources: RESOURCES }));
}

/** What is wrong with scenario files. Sets the exit code. */
export async function checkScenarioFiles(patterns: readonly string[], json: boolean): Promise<void> {
  const library = new ScenarioLibrary({ api: API });
  checkFiles(expandFiles(patterns), json, (file) => {
    try {
      library.addFile(file);
      return undefined;
    } catch (error) {
      if (error instanceof DocumentError) return error;
      throw error;
    }
  });
}

function checkFiles(files: readonly string[], json: boolean, check: Check): void {
  const results = files.map((file) => ({ file, error: check(file) }));
  const broken = results.filter(({ error }) => error !== undefined);
  const items = results.map(({ file, error }) => ({
    file,
    ok: error === undefined,
    problems: error?.problems ?? [],
  }));
  const lines = results.map(({ file, error }) => error?.formatWithFrames() ?? `${file}: ok`);
  const total = `${files.length} checked, ${broken.length} with problems`;
  print(json, { items, total: files.length, ok: broken.length === 0 }, [...lines, total].join("\n"));
  if (broken.length > 0) process.exitCode = EXIT_FAILED;
}
