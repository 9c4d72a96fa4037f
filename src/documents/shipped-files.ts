import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

interface Stored {
  text: string;
  value: unknown;
}

/**
 * A folder of documents that come with Understudy. The package has no file for each of some hundred: there the one
 * that the build has stored them in stands for the folder, which only the sources have.
 */
export class ShippedFiles {
  readonly folder: string;
  private readonly build: string;
  private packed: boolean | undefined;
  private stored: Readonly<Record<string, Stored>> | undefined;

  constructor(name: string, root = PROJECT_FOLDER) {
    this.folder = join(root, name);
    this.build = join(root, "dist", `${name}.json`);
  }

  holds(file: string): boolean {
    return dirname(file) === this.folder;
  }

  /** Whether there is no folder, only what the build has stored. */
  get isPacked(): boolean {
    this.packed ??= !existsSync(this.folder);
    return this.packed;
  }

  /** Where the documents would lie, by name; for packed ones. */
  files(): string[] {
    return Object.keys(this.all())
      .sort()
      .map((name) => join(this.folder, name));
  }

  /** What a packed file says; undefined for every other. */
  textOf(file: string): string | undefined {
    return this.holds(file) && this.isPacked ? this.find(file)?.text : undefined;
  }

  /**
   * The value of a shipped file as the build has stored it, so that nobody waits for YAML to be parsed, and for
   * checks that the tests have made. Undefined for other files, without a build, and as soon as the file differs
   * from what was built.
   */
  compiled(file: string, text: string): unknown {
    const stored = this.holds(file) ? this.find(file) : undefined;
    return stored?.text === text ? stored.value : undefined;
  }

  private find(file: string): Stored | undefined {
    const name = basename(file);
    return Object.hasOwn(this.all(), name) ? this.all()[name] : undefined;
  }

  private all(): Readonly<Record<string, Stored>> {
    this.stored ??= readStored(this.build);
    return this.stored;
  }
}

/** The folder that `fixtures/` and `dist/` are in. */
export const PROJECT_FOLDER = projectFolder();
export const SHIPPED_FIXTURES = new ShippedFiles("fixtures");
export const SHIPPED_SCENARIOS = new ShippedFiles("scenarios");

/** From src/documents/ and from wherever the bundler has put this in dist/. */
function projectFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, "fixtures", "reference.yaml"))) {
    const above = dirname(folder);
    if (above === folder) throw new Error("the folder with the shipped files is missing");
    folder = above;
  }
  return folder;
}

function readStored(file: string): Readonly<Record<string, Stored>> {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    // Run from the sources, or somebody has taken it away: the files themselves say the same.
    return {};
  }
}
