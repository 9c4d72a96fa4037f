import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import type { DocumentError } from "../engine/documents/document-error.ts";
import { OwnOperations } from "./own-operations.ts";

const folder = mkdtempSync(join(tmpdir(), "own-operations-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const OPERATION = `export const café = { kind: "operation", id: "a.b", method: "GET", path: "/v1/a", handle: () => 1 };\n`;
const load = (content: string | Uint8Array) => {
  writeFileSync(join(folder, "own.ts"), content);
  return new OwnOperations(["own.ts"], folder, 300).load();
};

it.each<[string, string | Uint8Array, string]>([
  ["is in Windows-1252", Buffer.from(OPERATION, "latin1"), "the file is not UTF-8 but probably Windows-1252"],
  ["is in UTF-16", Buffer.from(`\ufeff${OPERATION}`, "utf16le"), "the file is UTF-16; save it as UTF-8"],
  ["throws a text", 'throw "no settings";', `it throws 'no settings' while it is loaded`],
  ["throws nothing", "throw undefined;", "it throws undefined while it is loaded"],
  ["throws an object", "throw { code: 7 };", "it throws { code: 7 } while it is loaded"],
  [
    "awaits for ever",
    "await new Promise(() => {});",
    "it was not loaded within 0.3 s: does its top-level `await` ever end?",
  ],
])(
  "a file of operations that %s is refused with a sentence [interfaces 18]",
  async (_, content, sentence) => {
    const error = await load(content).catch((thrown: Error) => thrown);
    expect((error as DocumentError).format()).toMatch(/^own\.ts:.*/);
    expect((error as DocumentError).message).toContain(sentence);
  },
);

it("an imported file in another encoding is named [interfaces 18]", async () => {
  writeFileSync(join(folder, "names.ts"), Buffer.from(`export const name = "Café";\n`, "latin1"));
  const content = `import { name } from "./names.ts";\nexport const a = { ...${OPERATION.split(" = ")[1]!.trim().slice(0, -1)}, summary: name };\n`;
  const error = await load(content).catch((thrown: Error) => thrown);
  expect((error as DocumentError).format()).toMatch(/^names\.ts:.*the file is not UTF-8/);
});

it("a file with a byte order mark is read [interfaces 18]", async () => {
  expect(await load(`\ufeff${OPERATION}`)).toHaveLength(1);
});

it.each([".hidden", "notes.test.d"])(
  "a file that is added to a folder within %s is noticed [interfaces 18]",
  async (name) => {
    const own = join(folder, name, "operations");
    mkdirSync(own, { recursive: true });
    writeFileSync(join(own, "a.ts"), OPERATION);
    const { files } = await loadFolder(own);
    expect(files.isFileInUse(join(own, "b.ts"))).toBe(true);
    expect(files.isFileInUse(join(own, "b.test.ts"))).toBe(false);
    expect(files.isFileInUse(join(own, ".b.ts"))).toBe(false);
  },
);

it("a file that is added to a folder behind a symbolic link is noticed [interfaces 18]", async () => {
  const real = join(folder, "real");
  mkdirSync(real);
  writeFileSync(join(real, "a.ts"), OPERATION);
  symlinkSync(real, join(folder, "link"));
  const { files } = await loadFolder(join(folder, "link"));
  expect(files.isFileInUse(join(real, "b.ts"))).toBe(true);
});

async function loadFolder(path: string): Promise<OwnOperations> {
  const operations = new OwnOperations([path], folder);
  await operations.load();
  return operations;
}
