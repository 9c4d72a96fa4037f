import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { writeNewFile } from "../../src/cli/write-files.ts";

it("an existing file that others may read is made private before secrets are written to it [interfaces 2]", () => {
  const folder = mkdtempSync(join(tmpdir(), "secrets-"));
  try {
    const file = join(folder, "bundle.json");
    writeFileSync(file, "old");
    chmodSync(file, 0o644);
    // Fails as the text is written.
    expect(() => writeNewFile(file, 5 as never, { force: true, isSecret: true })).toThrow(TypeError);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    writeNewFile(file, "new", { force: true, isSecret: true });
    expect(statSync(file).mode & 0o777).toBe(0o600);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
