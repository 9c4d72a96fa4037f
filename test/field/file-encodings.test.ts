import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { readUserText } from "../../src/documents/files.ts";
import { type Api, startReference } from "../support/harness.ts";
import { createTempFolder, removeTempFolders, runCommand } from "../support/run-understudy.ts";

vi.setConfig({ testTimeout: 30_000, hookTimeout: 60_000 });

const FIXTURE = "extends: reference\norganizations:\n  - { id: org_acme, name: Café Zürich }\n";
const SCENARIO = "name: cafe\ndescription: Café Zürich\nrules: []\n";

let folder: string;
let api: Api;
beforeAll(async () => {
  folder = createTempFolder();
  api = await startReference();
});
afterAll(async () => {
  await api.close();
  removeTempFolders();
});

function toUtf16be(text: string): Buffer {
  return Buffer.from(text, "utf16le").swap16();
}

/** A text in the encodings in which editors save it. */
const ENCODINGS: [name: string, encode: (text: string) => Buffer][] = [
  ["UTF-8", (text) => Buffer.from(text)],
  ["UTF-8 with a byte order mark", (text) => Buffer.from(`\ufeff${text}`)],
  ["UTF-16 LE with a byte order mark", (text) => Buffer.from(`\ufeff${text}`, "utf16le")],
  ["UTF-16 LE", (text) => Buffer.from(text, "utf16le")],
  ["UTF-16 BE with a byte order mark", (text) => toUtf16be(`\ufeff${text}`)],
  ["UTF-16 BE", toUtf16be],
];

const encodeWestern = (text: string) => Buffer.from(text, "latin1");
const PROBABLY = /not UTF-8 but probably Windows-1252, in which 0xE9 is "é"; save it as UTF-8/;

/** The commands that read a user's file, each with a possible content. */
const COMMANDS: [command: string[], name: string, text: string][] = [
  [["fixture", "check"], "world.yaml", FIXTURE],
  [["fixture", "check"], "world.json", JSON.stringify({ extends: "reference", description: "Café" })],
  [["scenario", "check"], "cafe.yaml", SCENARIO],
  [["start", "--config"], "understudy.config.yaml", "# Café\nport: none\n"],
  [["replay"], "bundle.json", '{"name": "Café"}'],
  [["snapshot", "import", "cafe"], "snapshot.json", '{"name": "Café"'],
  [["fixture", "from-har"], "traffic.har", '{"log":{"creator":{"name":"Café"},"entries":[]}}'],
  [["scenario", "from-har"], "traffic.har", '{"log":{"creator":{"name":"Café"},"entries":[]}}'],
  [["verify", "--har"], "traffic.har", '{"log":{"creator":{"name":"Café"},"entries":[]}}'],
  [
    ["verify", "--target", "http://127.0.0.1:9", "--key", "ak_x", "--use"],
    "objects.yaml",
    "# Café\nnone: x\n",
  ],
];

async function run(command: readonly string[], name: string, bytes: Uint8Array) {
  writeFileSync(join(folder, name), bytes);
  const server = command[0] === "snapshot" ? ["--url", api.url] : [];
  const { code, stdout, stderr } = await runCommand([...command, `./${name}`, ...server], { cwd: folder });
  return { code, said: stdout + stderr };
}

describe("a file in Windows-1252", () => {
  it.each(COMMANDS)("is refused by %j with the encoding and how to save it", async (command, name, text) => {
    const { code, said } = await run(command, name, encodeWestern(text));
    expect(code).not.toBe(0);
    expect(said).toMatch(PROBABLY);
  });

  it("is refused with the place of the first character", async () => {
    const { said } = await run(["fixture", "check"], "world.yaml", encodeWestern(FIXTURE));
    expect(said).toContain("world.yaml:3:30: the file is not UTF-8");
  });

  it("is refused for characters that are not in Latin-1 too", async () => {
    const price = Buffer.from(`name: 5 \u0080\n`, "latin1");
    const { said } = await run(["fixture", "check"], "world.yaml", price);
    expect(said).toContain('Windows-1252, in which 0x80 is "€"');
  });

  it("prevents the start of a server as a fixture", async () => {
    writeFileSync(join(folder, "world.yaml"), encodeWestern(FIXTURE));
    await expect(startReference({ fixture: join(folder, "world.yaml") })).rejects.toThrow(PROBABLY);
  });
});

describe("a file in UTF-16", () => {
  it.each(COMMANDS)("is read by %j like one in UTF-8", async (command, name, text) => {
    const plain = await run(command, name, Buffer.from(text));
    for (const [encoding, encode] of ENCODINGS)
      expect(await run(command, name, encode(text)), encoding).toEqual(plain);
  });

  it.each(ENCODINGS)("of type %s has the same text in every script", (_name, encode) => {
    const file = join(folder, "text.yaml");
    for (const text of [FIXTURE, "name: Привет, мир\n", "- 東京\n- 大阪\n", "a", "", "emoji: 🎉\n"]) {
      writeFileSync(file, encode(text));
      if (text.length > 1) expect(readUserText(file)).toBe(text);
      else expect(() => readUserText(file)).not.toThrow();
    }
  });

  it("is refused with its encoding if it is broken", () => {
    const file = join(folder, "broken.yaml");
    writeFileSync(file, Buffer.from(`\ufeff${FIXTURE}`, "utf16le").subarray(0, -1));
    expect(() => readUserText(file)).toThrow("the file is broken UTF-16LE; save it as UTF-8");
  });
});

it.each([
  ["UTF-32 LE", [0xff, 0xfe, 0, 0, 0x61, 0, 0, 0], "UTF-32LE"],
  ["UTF-32 BE", [0, 0, 0xfe, 0xff, 0, 0, 0, 0x61], "UTF-32BE"],
  ["Shift JIS", [0x61, 0x3a, 0x20, 0x93, 0x8c, 0x8b, 0x9e, 0x93, 0x8c, 0x8b, 0x9e], "Shift JIS"],
  ["Windows-1251", [0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2, 0x3a, 0x20, 0x31], "Windows-1251"],
])("a file in %s is refused with its encoding", (_name, bytes, named) => {
  const file = join(folder, "other.yaml");
  writeFileSync(file, Uint8Array.from(bytes));
  expect(() => readUserText(file)).toThrow(named);
  expect(() => readUserText(file)).toThrow("save it as UTF-8");
});

it.each(["a: \0", "a: \0\n", "a: \0\0\n", '{"a\0":1,\n"b":\0}', "é: \0\n", "a:\n  b: \0\0 c\0\n"])(
  "NUL bytes in the short text %j are not read as UTF-16",
  (text) => {
    const file = join(folder, "zero.yaml");
    writeFileSync(file, text);
    expect(readUserText(file)).toBe(text);
  },
);

it("a short text in UTF-16 is read in Greek, Russian, Arabic, Hebrew and Chinese", () => {
  const file = join(folder, "short.yaml");
  for (const text of ["ναι\n", "да\n", "- да\n", "نعم\n", "כן\n", "- 東京\n", "a: 一\n", "ࡀࡁ ࡂ"]) {
    for (const [name, encode] of ENCODINGS) {
      writeFileSync(file, encode(text));
      expect(readUserText(file), `${text} in ${name}`).toBe(text);
    }
  }
});

it.each([
  ["gzip", gzipSync(FIXTURE), "the file is compressed with gzip; unpack it first"],
  ["ZIP", "PK\u0003\u0004\u0014\0\u0006\0", "the file is a ZIP archive or an Office document, not a text"],
  ["PDF", "%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "the file is a PDF, not a text"],
  ["PNG", "\x89PNG\r\n\u001a\n\0\0\0\rIHDR", "the file is an image, not a text"],
  ["SQLite", "SQLite format 3\0\u0010\0\u0001\u0001", "the file is an SQLite database, not a text"],
])("a file in the format %s is refused with that format", (_name, bytes, says) => {
  const file = join(folder, "binary.yaml");
  writeFileSync(file, typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes);
  expect(() => readUserText(file)).toThrow(says);
});

it("an exported sandbox that is read as a document is refused with the command that opens it", () => {
  const file = join(folder, "failed.understudy");
  writeFileSync(file, gzipSync("{}"));
  expect(() => readUserText(file)).toThrow("an exported sandbox; open it with `understudy open`");
});

it.each(["\r", "\r\n", "\n"])("a document's lines may end with %j", async (lineEnd) => {
  const { code, said } = await run(
    ["fixture", "check"],
    "world.yaml",
    Buffer.from(`${FIXTURE}users: x\n`.replaceAll("\n", lineEnd)),
  );
  expect([code, said]).toEqual([1, expect.stringContaining("world.yaml:4:8: `users` must be a list")]);
});

it.each(["fixture", "scenario"])("a %s from a pipe is refused with the name that was given", (kind) => {
  const bin = fileURLToPath(new URL("../../bin/understudy.js", import.meta.url));
  const { status, stdout } = spawnSync(
    "sh",
    ["-c", 'echo "users: []" | "$0" "$1" "$2" check /dev/stdin', process.execPath, bin, kind],
    { encoding: "utf8" },
  );
  expect([status, stdout]).toEqual([1, expect.stringContaining("/dev/stdin is not an ordinary file")]);
});
