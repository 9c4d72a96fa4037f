import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PROJECT_FOLDER } from "../../documents/shipped-files.ts";
import { command, flag } from "../command.ts";
import { writeNewFile } from "../write-files.ts";

const NAME = "understudy-worker.js";

export const workerFileCommand = command({
  command: "worker-file <dir>",
  describe: "Write the service worker through which a sandbox in a page answers the page's requests",
  args: { dir: "The folder that your server serves as the root of its static files" },
  options: {
    force: flag("Replace files, as after an update of the package"),
    console: flag("Also write the console, in the folder _console"),
  },
  examples: [["$0 worker-file public", "The page loads it as /understudy-worker.js"]],
  async run({ dir, force, console }) {
    const write = (file: string, bytes: Buffer) =>
      writeNewFile(file, bytes, { force: force || isSame(file, bytes) });
    const file = join(dir, NAME);
    write(file, readFileSync(join(PROJECT_FOLDER, "dist/browser", NAME)));
    if (console) for (const [name, bytes] of readConsole()) write(join(dir, name), bytes);
    return { value: { file }, text: `Wrote ${file}.` };
  },
});

/** The files of the console, by their paths below the worker's folder. */
export function readConsole(): [path: string, bytes: Buffer][] {
  const folder = join(PROJECT_FOLDER, "dist/console");
  const assets = readdirSync(join(folder, "assets")).filter((name) => !name.endsWith(".br"));
  const names = ["index.html", ...assets.map((name) => join("assets", name))];
  return names.map((name) => [join("_console", name), readFileSync(join(folder, name))]);
}

function isSame(file: string, bytes: Buffer): boolean {
  try {
    return readFileSync(file).equals(bytes);
  } catch {
    return false;
  }
}
