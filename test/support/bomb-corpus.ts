/** A small text that would cost much time or memory if a parser read it without limits. */
export interface Bomb {
  name: string;
  file: string;
  text: () => string;
}

const MILLION = 1_000_000;

function makeYamlBomb(name: string, text: () => string): Bomb {
  return { name, file: "bomb.yaml", text };
}

function makeJsonBomb(name: string, text: () => string): Bomb {
  return { name, file: "bomb.json", text };
}

function repeatLines(count: number, line: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => line(index)).join("\n");
}

/**
 * Documents that the server must refuse within a second and with 150 MB of memory (quality goal for bombs). The tests
 * check that each is refused, and why. A benchmark measures time and memory, since timed tests are unreliable on a
 * busy machine.
 */
export const BOMBS: readonly Bomb[] = [
  makeYamlBomb("billion laughs in flow lists", () =>
    repeatLines(
      30,
      (i) =>
        `a${i}: &a${i} [${
          i === 0
            ? "lol"
            : Array(9)
                .fill(`*a${i - 1}`)
                .join(", ")
        }]`,
    ),
  ),
  makeYamlBomb("billion laughs in block maps", () =>
    repeatLines(30, (i) =>
      i === 0 ? "m0: &m0 { k: v }" : `m${i}: &m${i}\n  x: *m${i - 1}\n  y: *m${i - 1}\n  z: *m${i - 1}`,
    ),
  ),
  makeYamlBomb(
    "one large list used by many aliases",
    () => `list: &list [${"1, ".repeat(20_000)}1]\nuses: [${"*list, ".repeat(5_000)}1]`,
  ),
  makeYamlBomb(
    "aliases that nest a thousand deep",
    () => `a0: &a0 []\n${repeatLines(1_000, (i) => `a${i + 1}: &a${i + 1} [*a${i}]`)}`,
  ),
  makeYamlBomb("an alias within its own value", () => "a: &a [1, [2, *a]]"),
  makeYamlBomb("an alias of its own map", () => "a: &a { b: { c: *a } }"),
  makeYamlBomb("flow lists a million deep", () => "[".repeat(MILLION)),
  makeYamlBomb(
    "flow lists a hundred thousand deep and closed",
    () => "[".repeat(100_000) + "]".repeat(100_000),
  ),
  makeYamlBomb("flow maps a million deep", () => "{a: ".repeat(MILLION)),
  makeYamlBomb("flow pairs in lists", () => "[a: ".repeat(MILLION)),
  makeYamlBomb("block lists a million deep on one line", () => "- ".repeat(MILLION)),
  makeYamlBomb("explicit keys a million deep", () => "? ".repeat(MILLION)),
  makeYamlBomb("block maps by indentation", () => repeatLines(4_000, (i) => `${" ".repeat(i)}a:`)),
  makeYamlBomb("block lists by indentation", () => repeatLines(4_000, (i) => `${" ".repeat(i)}-`)),
  makeYamlBomb("keys on one line", () => "a: ".repeat(MILLION)),
  makeYamlBomb("a file larger than the limit", () => "a: ".padEnd(17 * 1024 * 1024, "x")),
  makeYamlBomb("characters of several bytes beyond the limit", () => "😀".repeat(5 * MILLION)),
  makeYamlBomb("one enormous plain text", () => "a".repeat(15 * MILLION)),
  makeYamlBomb("one enormous text over many lines", () => `"${" \n".repeat(7 * MILLION)}"`),
  makeYamlBomb("an enormous block text", () => `a: |\n${"  \n".repeat(5 * MILLION)}`),
  makeYamlBomb("an enormous key", () => `${"k".repeat(15 * MILLION)}: 1`),
  makeYamlBomb("an enormous comment", () => `a: 1 #${"x".repeat(15 * MILLION)}`),
  makeYamlBomb("empty lines", () => "\n".repeat(15 * MILLION)),
  makeYamlBomb("blanks and tabs", () => " \t".repeat(7 * MILLION)),
  makeYamlBomb("comments", () => "#\n".repeat(7 * MILLION)),
  makeYamlBomb("commas", () => `[${",".repeat(MILLION)}]`),
  makeYamlBomb("colons", () => `{${": ".repeat(MILLION)}}`),
  makeYamlBomb("closing braces", () => "}".repeat(MILLION)),
  makeYamlBomb("broken escapes, each an error", () => `"${"\\q".repeat(400_000)}"`),
  makeYamlBomb("reserved characters, each an error", () => "- @\n".repeat(MILLION)),
  makeYamlBomb("empty quoted texts, each an error", () => '""'.repeat(MILLION)),
  makeYamlBomb("unknown directives, each a warning", () => "%A\n".repeat(MILLION)),
  makeYamlBomb("documents", () => "---\n".repeat(MILLION)),
  makeYamlBomb("anchors", () => "&a ".repeat(MILLION)),
  makeYamlBomb("tags", () => "!a ".repeat(MILLION)),
  makeYamlBomb("one key given a million times", () => "a: 1\n".repeat(MILLION)),
  makeYamlBomb("keys given twice, fifty thousand of them", () =>
    repeatLines(50_000, (i) => `k${i % 25_000}: 1`),
  ),
  makeYamlBomb("a million items", () => "- a\n".repeat(MILLION)),
  makeYamlBomb("a number of a million digits", () => `a: ${"9".repeat(900_000)}`),
  makeYamlBomb("a backslash run", () => `"${"\\".repeat(15 * MILLION)}`),
  makeYamlBomb("an unknown tag that names code", () => 'a: !!js/function "function () { while (true); }"'),
  makeYamlBomb("a key that reaches the prototype", () => "a:\n  __proto__: { polluted: true }"),
  makeJsonBomb("lists a million deep", () => "[".repeat(MILLION)),
  makeJsonBomb("lists a hundred thousand deep and closed", () => "[".repeat(100_000) + "]".repeat(100_000)),
  makeJsonBomb("maps two hundred thousand deep", () => `${'{"a":'.repeat(200_000)}1${"}".repeat(200_000)}`),
  makeJsonBomb("lists and maps in turn", () => `${'[{"a":'.repeat(100_000)}1${"}]".repeat(100_000)}`),
  makeJsonBomb("a list of a million numbers", () => `[${"1,".repeat(MILLION)}1]`),
  makeJsonBomb(
    "a map of three hundred thousand keys",
    () => `{${repeatLines(300_000, (i) => `"k${i}":1,`)}"end":1}`,
  ),
  makeJsonBomb("a text of fifteen million characters", () => `"${"x".repeat(15 * MILLION)}"`),
  makeJsonBomb("a text that never ends", () => `{"a":"${"x".repeat(15 * MILLION)}`),
  makeJsonBomb("escapes by the million", () => `"${"\\u0041".repeat(2 * MILLION)}"`),
  makeJsonBomb("a number beyond all bounds", () => `{"a":1${"0".repeat(900_000)}}`),
  makeJsonBomb("a key that reaches the prototype", () => '{"a":{"__proto__":{"polluted":true}}}'),
  makeJsonBomb("a constructor key", () => '{"constructor":{"prototype":{"polluted":true}}}'),
];
