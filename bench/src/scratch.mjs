import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

let root;
let folders = 0;

/** Creates a folder that is removed at the end of the run. */
export function createScratchFolder() {
  if (!root) {
    root = mkdtempSync(join(tmpdir(), "understudy-bench-"));
    process.on("exit", () => rmSync(root, { recursive: true, force: true }));
  }
  const folder = join(root, String(++folders));
  mkdirSync(folder);
  return folder;
}

/** Writes one file into a new folder and returns its path. */
export function writeScratchFile(name, content) {
  const path = join(createScratchFolder(), name);
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
}
