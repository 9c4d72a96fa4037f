import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PROJECT_FOLDER } from "../../documents/shipped-files.ts";
import { command, flag } from "../command.ts";
import { writeNewFile } from "../write-files.ts";

const NAME = "understudy-worker.js";

export const workerFileCommand = command({
  command: "worker-file <dir>",
  describe: "Write the service worker that lets a sandbox in a page answer its requests",
  args: { dir: "The folder that your server serves as the root of its static files" },
  options: { force: flag("Replace the file, as after an update of the package") },
  examples: [["$0 worker-file public", "The page loads it as /understudy-worker.js"]],
  async run({ dir, force }) {
    const file = join(dir, NAME);
    const text = readFileSync(join(PROJECT_FOLDER, "dist", "browser", NAME));
    writeNewFile(file, text, { force: force || isSame(file, text) });
    return { value: { file }, text: `Wrote ${file}` };
  },
});

function isSame(file: string, text: Buffer): boolean {
  try {
    return readFileSync(file).equals(text);
  } catch {
    return false;
  }
}
