import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach } from "vitest";

/** Gives each test a path for a folder that does not exist yet, and removes it afterwards. */
export function setUpFolderPerTest(
  begin: (folder: string) => void,
  end: () => Promise<void> | void = () => {},
): void {
  let above: string;
  beforeEach(() => {
    above = mkdtempSync(join(tmpdir(), "understudy-kept-"));
    begin(join(above, "kept"));
  });
  afterEach(async () => {
    await end();
    rmSync(above, { recursive: true, force: true });
  });
}
