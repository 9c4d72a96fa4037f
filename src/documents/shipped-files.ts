import { basename, dirname, existsSync, join, readFileSync, STARTING_FOLDER } from "./node-files.ts";

interface ShippedDocument {
  text: string;
  value: unknown;
}

/** A folder of documents that come with Understudy. */
class ShippedFiles {
  readonly folder: string;
  private readonly builtFile: string;
  private documents: Readonly<Record<string, ShippedDocument>> | undefined;

  constructor(name: string) {
    this.folder = join(PROJECT_FOLDER, name);
    this.builtFile = join(PROJECT_FOLDER, "dist", `${name}.json`);
  }

  holds(file: string): boolean {
    return dirname(file) === this.folder;
  }

  /**
   * The value of a shipped file in the build: it need not be parsed, nor checked, since tests check it.
   * Undefined for other files, without a build, and when the file differs from what was built.
   */
  findBuiltValue(file: string, text: string): unknown {
    if (!this.holds(file)) return undefined;
    this.documents ??= readBuiltFile(this.builtFile);
    const name = basename(file);
    const document = Object.hasOwn(this.documents, name) ? this.documents[name] : undefined;
    return document?.text === text ? document.value : undefined;
  }
}

/** The folder that `fixtures/` and `dist/` are in. */
export const PROJECT_FOLDER = findProjectFolder();
export const SHIPPED_FIXTURES = new ShippedFiles("fixtures");
export const SHIPPED_SCENARIOS = new ShippedFiles("scenarios");

/** Works in src/documents/ and in every folder of dist/ into which the bundler puts this module. */
function findProjectFolder(): string {
  let folder = STARTING_FOLDER;
  while (!existsSync(join(folder, "fixtures", "reference.yaml"))) {
    const above = dirname(folder);
    if (above === folder) throw new Error("the folder with the shipped files is missing");
    folder = above;
  }
  return folder;
}

function readBuiltFile(file: string): Readonly<Record<string, ShippedDocument>> {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    // Run from the sources, without a build: the files themselves are read.
    return {};
  }
}
