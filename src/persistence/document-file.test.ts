import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { put, toPieces } from "../../test/support/stores.ts";
import { DocumentFile } from "./document-file.ts";
import { DocumentStore } from "./document-store.ts";
import type { SandboxSections } from "./sections-draft.ts";
import type { RowChange } from "./store.ts";

let folder: string;
let path: string;
let said: string[];
let file: DocumentFile;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "understudy-document-"));
  path = join(folder, "worlds.json");
  said = [];
  file = new DocumentFile(path, (warning) => said.push(warning));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const toSections = (text: string): SandboxSections =>
  new Map([["a", new Map([["world", new Map([["x", text]])]])]]);
const toDocument = (sandboxes: string) =>
  `{\n  "format": "understudy-worlds",\n  "version": 2,\n  "sandboxes": ${sandboxes}\n}\n`;

describe("the document of --persist FILE.json", () => {
  it("is readable text, with the sandboxes in order [interfaces 2]", async () => {
    await file.write(
      new Map([
        ["b", new Map([["world", new Map([["x", "1"]])]])],
        ["a", new Map([["records/notes", new Map([["n1", '{"id":"n1"}']])]])],
      ]),
    );
    expect(readFileSync(path, "utf8")).toBe(`{
  "format": "understudy-worlds",
  "version": 2,
  "sandboxes": {
    "a": {
      "records": {
        "notes": {
          "n1": {"id":"n1"}
        }
      }
    },
    "b": {
      "world": {
        "x": 1
      }
    }
  },
  "checksums": {
    "a": {
      "records/notes": "cd8dc0f6"
    },
    "b": {
      "world": "186db48a"
    }
  }
}
`);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const again = await file.read();
    expect(again).toEqual(
      new Map([
        ["a", new Map([["records/notes", new Map([["n1", '{"id":"n1"}']])]])],
        ["b", new Map([["world", new Map([["x", "1"]])]])],
      ]),
    );
    expect(said).toEqual([]);
  });

  it("keeps the previous document, and no draft [interfaces 2]", async () => {
    await file.write(toSections("1"));
    expect(readdirSync(folder)).toEqual(["worlds.json"]);
    const first = readFileSync(path, "utf8");
    await file.write(toSections("2"));
    expect(readFileSync(`${path}.previous`, "utf8")).toBe(first);
    await file.write(new Map());
    expect(await file.read()).toEqual(new Map());
    expect(readFileSync(path, "utf8")).toBe(toDocument('{\n  },\n  "checksums": {}'));
    expect(readdirSync(folder)).toEqual(["worlds.json", "worlds.json.previous"]);
  });

  it("a large document is written completely, between turns of the event loop [interfaces 2]", async () => {
    let turns = 0;
    const tick = () => {
      turns += 1;
      if (turns < 10_000) setImmediate(tick);
    };
    setImmediate(tick);
    const rows = Array.from({ length: 40 }, (_, i) => [`n${i}`, JSON.stringify("x".repeat(50_000))] as const);
    const large = new Map([["a", new Map([["records/notes", new Map(rows)]])]]);
    await file.write(large);
    expect(turns).toBeGreaterThan(7);
    turns = 10_000;
    expect((await file.read())?.get("a")?.get("records/notes")?.size).toBe(40);
  });

  it("leaves a document in place that the system does not let it read [interfaces 2]", async () => {
    // Stands for a file without permission, which root could read.
    mkdirSync(path);
    await expect(file.read()).rejects.toThrow("EISDIR");
    expect([readdirSync(folder), said]).toEqual([["worlds.json"], []]);
  });

  it("a failed write changes nothing and leaves no draft [interfaces 2]", async () => {
    await file.write(toSections("1"));
    // A folder in the place of the draft, then of the copy.
    for (const inTheWay of [`${path}.previous`, `${path}.previous.draft`]) {
      mkdirSync(inTheWay);
      writeFileSync(join(inTheWay, "x"), "");
      await expect(file.write(toSections("2"))).rejects.toThrow();
      expect(await file.read()).toEqual(toSections("1"));
      expect(existsSync(`${path}.draft`)).toBe(false);
      rmSync(inTheWay, { recursive: true });
    }
    expect(readdirSync(folder)).toEqual(["worlds.json"]);
  });

  it("is used if edited or damaged, which is reported and kept, and is not checked without checksums [quality 2.7]", async () => {
    await file.write(toSections("1"));
    await file.write(toSections('"text"'));
    const saved = readFileSync(path, "utf8");
    const before = readFileSync(`${path}.previous`, "utf8");
    const readAs = async (text: string) => {
      writeFileSync(path, text);
      said = [];
      return [(await file.read())?.get("a")?.get("world")?.get("x"), ...said];
    };
    expect(await readAs(saved)).toEqual(['"text"']);
    // The text as a formatter would write it.
    expect(await readAs(JSON.stringify(JSON.parse(saved), null, 4))).toEqual(['"text"']);
    expect(await readAs(saved.replace('"text"', '"tezt"'))).toEqual([
      '"tezt"',
      expect.stringMatching(/not as it was saved: world of sandbox a\. .*If you have edited it, ignore this/),
    ]);
    expect(readFileSync(`${path}.changed`, "utf8")).toContain("tezt");
    expect(readFileSync(`${path}.changed.previous`, "utf8")).toBe(before);
    const [, renamed] = await readAs(saved.replace('"checksums"', '"checksumz"'));
    expect(renamed).toContain('not as it was saved: "checksumz" is not part of it.');
    const edited = saved.replace('"text"', "2").replace(/,\n {2}"checksums".*/s, "\n}\n");
    expect(await readAs(edited)).toEqual(["2"]);
  });

  it("is kept under another name if unreadable, and the previous one is used [quality 2.7]", async () => {
    expect(await file.read()).toBeNull();
    await file.write(toSections("1"));
    await file.write(toSections("2"));
    writeFileSync(path, "{ no");
    expect(await file.read()).toEqual(toSections("1"));
    expect(said).toEqual([
      expect.stringMatching(
        /^\S+worlds\.json cannot be read and was kept as \S+worlds\.json\.damaged: .+\.$/,
      ),
      `${path}.previous is used instead.`,
    ]);
    expect(readFileSync(`${path}.damaged`, "utf8")).toBe("{ no");
    said.splice(0);
    for (const [i, text] of ["5", "null", '"text"'].entries()) {
      writeFileSync(path, text);
      rmSync(`${path}.previous`, { force: true });
      expect(await file.read()).toBeNull();
      expect(said.splice(0)).toEqual([
        `${path} cannot be read and was kept as ${path}.damaged-${i + 2}: it contains no object.`,
      ]);
    }
  });

  it("a handwritten document without sandboxes is empty [interfaces 2]", async () => {
    for (const sandboxes of ["null", "5", '"text"']) {
      writeFileSync(path, toDocument(sandboxes));
      expect(await file.read()).toEqual(new Map());
    }
    writeFileSync(path, toDocument('{ "a": { "world": { "x": 1, "y": 2 } }, "b": 5 }'));
    expect(await file.read()).toEqual(
      new Map([
        [
          "a",
          new Map([
            [
              "world",
              new Map([
                ["x", "1"],
                ["y", "2"],
              ]),
            ],
          ]),
        ],
        ["b", new Map()],
      ]),
    );
  });

  it("is refused and unchanged if foreign or of a newer version [interfaces 2]", () => {
    const readRefusal = (text: string) => {
      writeFileSync(path, text);
      try {
        file.requireKnownFormat();
      } catch (error) {
        expect((error as Error).name).toBe("PersistenceError");
        return (error as Error).message;
      }
      return undefined;
    };
    file.requireKnownFormat();
    expect(readRefusal("{ no")).toBeUndefined();
    expect(readRefusal(toDocument("{}"))).toBeUndefined();
    expect(readRefusal('{ "format": "understudy-worlds", "version": 1 }')).toBeUndefined();
    expect(readRefusal('{ "name": "package" }')).toBe(
      `${path} is not a document with Understudy's worlds (its "format" would be "understudy-worlds"); nothing was touched.`,
    );
    const describeNewer = (version: unknown) =>
      `${path} was written by a newer Understudy (format ${version}, this one knows 2). Update Understudy, or choose another file with --persist.`;
    expect(readRefusal('{ "format": "understudy-worlds", "version": 3 }')).toBe(describeNewer(3));
    expect(readRefusal('{ "format": "understudy-worlds", "version": "two" }')).toBe(describeNewer("two"));
  });
});

describe("the store over the document", () => {
  it("is refused without its folder, which the message names [interfaces 2]", async () => {
    const elsewhere = join(folder, "none", "worlds.json");
    await expect(DocumentStore.open(elsewhere, () => {})).rejects.toThrow(
      `--persist ${elsewhere}: there is no folder ${join(folder, "none")}.`,
    );
  });

  it("stores its other files beside the document [interfaces 2]", async () => {
    const store = await DocumentStore.open(path, () => {});
    expect([store.uploadsFolder, store.setAsideFolder]).toEqual([`${path}.uploads`, `${path}.set-aside`]);
    await store.close();
  });

  it("is unlocked if it could not be opened [interfaces 2]", async () => {
    writeFileSync(path, "{ no");
    const throwError = () => {
      throw new Error("no listener");
    };
    await expect(DocumentStore.open(path, throwError)).rejects.toThrow("no listener");
    const store = await DocumentStore.open(path, () => {});
    await expect(DocumentStore.open(path, () => {})).rejects.toThrow(
      `${path} is in use by another server; stop that server, or choose another file with --persist.`,
    );
    await store.close();
  });

  it("is refused with the reason if it cannot be locked [interfaces 2]", async () => {
    mkdirSync(`${path}.lock`);
    await expect(DocumentStore.open(path, () => {})).rejects.toThrow(
      /^--persist: \S+ could not be written \(EISDIR\); choose another file with --persist\.$/,
    );
  });

  it("commits many changes of one section at once, and drops those of a refused commit [interfaces 2]", async () => {
    const store = await DocumentStore.open(path, () => {});
    const rows = async (name: string) =>
      (await store.load(name)).map(({ section, id, text }) => `${section} ${id} ${text}`).toSorted();
    await store.commit(
      toPieces(
        [put("b", "world", "x", 1), put("a", "world", "x", 1), put("a", "world", "y", 2)],
        [put("a", "snapshots/s/world", "x", 3), put("a", "records/n", "n1", 4)],
      ),
    );
    await store.commit(
      toPieces([
        { sandbox: "a", section: "world", id: "x", text: null },
        put("a", "records/n", "n2", 5),
        { sandbox: "a", clearPrefix: "snapshots/s/" },
        put("a", "world", "z", 6),
      ]),
    );
    const expected = ["records/n n1 4", "records/n n2 5", "world y 2", "world z 6"];
    expect([await rows("a"), await rows("b"), await rows("c")]).toEqual([expected, ["world x 1"], []]);
    expect(await store.list()).toEqual(["a", "b"]);
    const failing = async function* (): AsyncGenerator<readonly RowChange[]> {
      yield [{ sandbox: "b", clearPrefix: "" }, put("a", "world", "y", 9)];
      throw new Error("out of ideas");
    };
    await expect(store.commit(failing())).rejects.toThrow("out of ideas");
    mkdirSync(`${path}.draft`);
    await expect(store.commit(toPieces([put("a", "world", "y", 9)]))).rejects.toMatchObject({
      kind: "failed",
    });
    expect([await rows("a"), await rows("b")]).toEqual([expected, ["world x 1"]]);
    await store.close();
  });
});
