import type { EventEmitter } from "node:events";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DocumentError } from "../engine/documents/document-error.ts";
import { DocumentLibrary, type LoadedDocument } from "./document-library.ts";
import { readFileText } from "./files.ts";
import { DocumentWatch } from "./watch-documents.ts";

let cwd: string;
let used: Set<string>;
let library: DocumentLibrary<string>;
let watch: DocumentWatch | undefined;
let said: string[];

const toPath = (name: string) => join(cwd, `${name}.yaml`);
const write = (name: string, text: string) => writeFileSync(toPath(name), text);
const getValue = (name: string) => library.find(name)?.value;

/** The value of a document is its text, or that of the file that it extends; one that starts with `wrong` is invalid. */
function read(file: string): LoadedDocument<string> {
  const { text, version } = readFileText(file, { displayName: file, noun: "a document", maxBytes: 1000 });
  if (text.startsWith("wrong"))
    throw new DocumentError([{ file, line: 1, column: 1, field: "", message: text }]);
  const [, base] = /^extends (.*)/.exec(text) ?? [];
  if (base === undefined) return { value: text, files: new Map([[file, version]]) };
  const extended = read(toPath(base));
  return { ...extended, files: new Map([[file, version], ...extended.files]) };
}

function start(): Promise<void> {
  const applyEdit = (file: string) => {
    const { changed, broken } = library.refresh(file);
    said.push(...changed.map(({ value }) => value!), ...broken.map(({ problem }) => problem.message));
  };
  watch = new DocumentWatch([{ files: library, applyEdit }], (error) => said.push(error.message));
  return watch.waitUntilReady();
}

beforeEach(() => {
  cwd = realpathSync(mkdtempSync(join(tmpdir(), "documents-")));
  used = new Set();
  said = [];
  library = new DocumentLibrary<string>({
    folders: ["."],
    cwd,
    cacheSize: Number.POSITIVE_INFINITY,
    read,
    getName: undefined,
    differs: (before, after) => before !== after,
    isInUse: ({ file }) => used.has(file!),
  });
});
afterEach(async () => {
  await watch?.close();
  rmSync(cwd, { recursive: true });
});

function use(name: string): void {
  used.add(toPath(name));
  library.announceFilesInUse();
}

describe("a library of documents", () => {
  it("reads an unused document again; a used one keeps its version until it is refreshed [interfaces 6]", () => {
    write("a", "one");
    expect(getValue("a")).toBe("one");
    write("a", "second");
    expect(getValue("a")).toBe("second");
    use("a");
    write("a", "third version");
    expect(getValue("a")).toBe("second");
    expect(library.refresh(toPath("a")).changed.map(({ value }) => value)).toEqual(["third version"]);
  });

  it("keeps the last good version of a broken document, and reports the problem [interfaces 6]", () => {
    write("a", "good");
    expect(getValue("a")).toBe("good");
    use("a");
    write("a", "wrong spelling");
    expect(library.refresh(toPath("a")).broken[0]!.problem.message).toBe("wrong spelling");
    expect(library.find("a")).toMatchObject({ value: "good", problem: { message: "wrong spelling" } });
    // The file has its former text again, so it has not changed.
    write("a", "good");
    expect(library.refresh(toPath("a"))).toEqual({ changed: [], broken: [] });
    expect(library.find("a")!.problem).toBeUndefined();
  });

  it("reads a document that was never valid again [interfaces 6]", () => {
    write("a", "wrong");
    expect(library.find("a")).toMatchObject({ value: undefined, problem: { message: "wrong" } });
    write("a", "right");
    expect(getValue("a")).toBe("right");
    expect(getValue("b")).toBeUndefined();
  });
});

describe("a watch over documents", () => {
  it("sees an edit that was made before it began [interfaces 6]", async () => {
    write("a", "one");
    getValue("a");
    use("a");
    write("a", "edited meanwhile");
    await start();
    await expect.poll(() => said).toEqual(["edited meanwhile"]);
  });

  it("sees a single edit of a file that was just used for the first time [interfaces 6]", async () => {
    await start();
    write("a", "one");
    getValue("a");
    use("a");
    write("a", "edited at once");
    await expect.poll(() => said).toEqual(["edited at once"]);
    expect(getValue("a")).toBe("edited at once");
  });

  it("sees each edit by a build that deletes the folder first [interfaces 6, 18]", async () => {
    write("a", "one");
    getValue("a");
    use("a");
    await start();
    for (const text of ["slow build", "second", "third build"]) {
      rmSync(cwd, { recursive: true });
      if (text === "slow build") await expect.poll(() => said.at(-1)).toContain("there is no file");
      mkdirSync(cwd);
      write("a", text);
      await expect.poll(() => said.at(-1)).toBe(text);
      await expect.poll(() => getValue("a")).toBe(text);
    }
  });

  it("ignores edits of unused documents [interfaces 6]", async () => {
    write("a", "one");
    write("b", "one");
    getValue("a");
    getValue("b");
    use("b");
    await start();
    write("a", "not in use");
    write("b", "in use");
    await expect.poll(() => said).toEqual(["in use"]);
  });

  it("sees edits in a folder that was removed and created again, as by a change of branches [interfaces 6]", async () => {
    write("a", "one");
    getValue("a");
    use("a");
    await start();
    rmSync(cwd, { recursive: true });
    await expect.poll(() => said).toHaveLength(1);
    mkdirSync(cwd);
    write("a", "two");
    await expect.poll(() => said.at(-1)).toBe("two");
    write("a", "three");
    await expect.poll(() => said.at(-1)).toBe("three");
  });

  it("sees a file that a document extends in a folder that appears later [interfaces 6]", async () => {
    write("a", "one");
    getValue("a");
    use("a");
    await start();
    write("a", "extends later/base");
    await expect.poll(() => said.at(-1)).toContain("there is no file");
    mkdirSync(join(cwd, "later"));
    write("later/base", "two");
    await expect.poll(() => said.at(-1)).toBe("two");
  });

  it("sees an edit that the system did not report, as of a file that is not watched yet on a busy machine, and applies it once [interfaces 6]", async () => {
    write("a", "one");
    write("b", "one");
    getValue("a");
    getValue("b");
    use("a");
    use("b");
    await start();
    const { watcher } = watch as unknown as { watcher: Promise<EventEmitter> };
    (await watcher).removeAllListeners("change");
    write("a", "wrong, not reported");
    await expect.poll(() => said).toEqual(["wrong, not reported"]);
    // Later checks have seen this edit too.
    write("b", "not reported");
    await expect.poll(() => said.at(-1)).toBe("not reported");
    expect(said).toHaveLength(2);
  });

  it("warns once that it cannot watch a file, and continues [interfaces 2]", async () => {
    write("a", "one");
    write("b", "one");
    getValue("a");
    getValue("b");
    use("a");
    use("b");
    rmSync(toPath("a"));
    symlinkSync(toPath("a"), toPath("a"));
    await start();
    write("b", "edited");
    await expect.poll(() => said).toContain("edited");
    expect(said.filter((text) => text.includes("ELOOP: too many"))).toHaveLength(1);
  });
});
