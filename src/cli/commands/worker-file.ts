import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PROJECT_FOLDER } from "../../documents/shipped-files.ts";
import { command, flag } from "../command.ts";
import { writeNewFile } from "../write-files.ts";

const NAME = "understudy-worker.js";

export const workerFileCommand = command({
  command: "worker-file <dir>",
  describe: "Write the service worker that lets a sandbox in a page answer its requests",
  args: { dir: "The folder that your server serves as the root of its static files" },
  options: {
    force: flag("Replace files, as after an update of the package"),
    console: flag("Also write the console, in the folder _console"),
  },
  examples: [["$0 worker-file public", "The page loads it as /understudy-worker.js"]],
  async run({ dir, force, console }) {
    const dist = join(PROJECT_FOLDER, "dist");
    const copy = (from: string, to: string) => {
      const bytes = readFileSync(from);
      writeNewFile(to, bytes, { force: force || isSame(to, bytes) });
    };
    const file = join(dir, NAME);
    copy(join(dist, "browser", NAME), file);
    if (console)
      for (const name of listConsole(join(dist, "console")))
        copy(join(dist, "console", name), join(dir, "_console", name));
    return { value: { file }, text: `Wrote ${file}.` };
  },
});

export function listConsole(folder: string): string[] {
  const assets = readdirSync(join(folder, "assets")).filter((name) => !name.endsWith(".br"));
  return ["index.html", ...assets.map((name) => join("assets", name))];
}

function isSame(file: string, bytes: Buffer): boolean {
  try {
    return readFileSync(file).equals(bytes);
  } catch {
    return false;
  }
}
