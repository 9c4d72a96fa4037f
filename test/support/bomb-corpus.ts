/** A small text that would cost much time or memory if a parser read it without limits. */
export interface Bomb {
  name: string;
  file: string;
  text: () => string;
}

const MILLION = 1_000_000;

function yaml(name: string, text: () => string): Bomb {
  return { name, file: "bomb.yaml", text };
}

function json(name: string, text: () => string): Bomb {
  return { name, file: "bomb.json", text };
}

function lines(count: number, line: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => line(index)).join("\n");
}

/**
 * Documents that the server must refuse within a second and with 150 MB of memory (quality goal for bombs). The tests
 * check that each is refused, and why. A benchmark measures time and memory, since timed tests are unreliable on a
 * busy machine.
 */
export const BOMBS: readonly Bomb[] = [
  yaml("billion laughs in flow lists", () =>
    lines(
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
  yaml("billion laughs in block maps", () =>
    lines(30, (i) =>
      i === 0 ? "m0: &m0 { k: v }" : `m${i}: &m${i}\n  x: *m${i - 1}\n  y: *m${i - 1}\n  z: *m${i - 1}`,
    ),
  ),
  yaml(
    "one large list used by many aliases",
    () => `list: &list [${"1, ".repeat(20_000)}1]\nuses: [${"*list, ".repeat(5_000)}1]`,
  ),
  yaml(
    "aliases that nest a thousand deep",
    () => `a0: &a0 []\n${lines(1_000, (i) => `a${i + 1}: &a${i + 1} [*a${i}]`)}`,
  ),
  yaml("an alias within its own value", () => "a: &a [1, [2, *a]]"),
  yaml("an alias of its own map", () => "a: &a { b: { c: *a } }"),
  yaml("flow lists a million deep", () => "[".repeat(MILLION)),
  yaml("flow lists a hundred thousand deep and closed", () => "[".repeat(100_000) + "]".repeat(100_000)),
  yaml("flow maps a million deep", () => "{a: ".repeat(MILLION)),
  yaml("flow pairs in lists", () => "[a: ".repeat(MILLION)),
  yaml("block lists a million deep on one line", () => "- ".repeat(MILLION)),
  yaml("explicit keys a million deep", () => "? ".repeat(MILLION)),
  yaml("block maps by indentation", () => lines(4_000, (i) => `${" ".repeat(i)}a:`)),
  yaml("block lists by indentation", () => lines(4_000, (i) => `${" ".repeat(i)}-`)),
  yaml("keys on one line", () => "a: ".repeat(MILLION)),
  yaml("a file larger than the limit", () => "a: ".padEnd(17 * 1024 * 1024, "x")),
  yaml("characters of several bytes beyond the limit", () => "😀".repeat(5 * MILLION)),
  yaml("one enormous plain text", () => "a".repeat(15 * MILLION)),
  yaml("one enormous text over many lines", () => `"${" \n".repeat(7 * MILLION)}"`),
  yaml("an enormous block text", () => `a: |\n${"  \n".repeat(5 * MILLION)}`),
  yaml("an enormous key", () => `${"k".repeat(15 * MILLION)}: 1`),
  yaml("an enormous comment", () => `a: 1 #${"x".repeat(15 * MILLION)}`),
  yaml("empty lines", () => "\n".repeat(15 * MILLION)),
  yaml("blanks and tabs", () => " \t".repeat(7 * MILLION)),
  yaml("comments", () => "#\n".repeat(7 * MILLION)),
  yaml("commas", () => `[${",".repeat(MILLION)}]`),
  yaml("colons", () => `{${": ".repeat(MILLION)}}`),
  yaml("closing braces", () => "}".repeat(MILLION)),
  yaml("broken escapes, each an error", () => `"${"\\q".repeat(400_000)}"`),
  yaml("reserved characters, each an error", () => "- @\n".repeat(MILLION)),
  yaml("empty quoted texts, each an error", () => '""'.repeat(MILLION)),
  yaml("unknown directives, each a warning", () => "%A\n".repeat(MILLION)),
  yaml("documents", () => "---\n".repeat(MILLION)),
  yaml("anchors", () => "&a ".repeat(MILLION)),
  yaml("tags", () => "!a ".repeat(MILLION)),
  yaml("one key given a million times", () => "a: 1\n".repeat(MILLION)),
  yaml("keys given twice, fifty thousand of them", () => lines(50_000, (i) => `k${i % 25_000}: 1`)),
  yaml("a million items", () => "- a\n".repeat(MILLION)),
  yaml("a number of a million digits", () => `a: ${"9".repeat(900_000)}`),
  yaml("a backslash run", () => `"${"\\".repeat(15 * MILLION)}`),
  yaml("an unknown tag that names code", () => 'a: !!js/function "function () { while (true); }"'),
  yaml("a key that reaches the prototype", () => "a:\n  __proto__: { polluted: true }"),
  json("lists a million deep", () => "[".repeat(MILLION)),
  json("lists a hundred thousand deep and closed", () => "[".repeat(100_000) + "]".repeat(100_000)),
  json("maps two hundred thousand deep", () => `${'{"a":'.repeat(200_000)}1${"}".repeat(200_000)}`),
  json("lists and maps in turn", () => `${'[{"a":'.repeat(100_000)}1${"}]".repeat(100_000)}`),
  json("a list of a million numbers", () => `[${"1,".repeat(MILLION)}1]`),
  json("a map of three hundred thousand keys", () => `{${lines(300_000, (i) => `"k${i}":1,`)}"end":1}`),
  json("a text of fifteen million characters", () => `"${"x".repeat(15 * MILLION)}"`),
  json("a text that never ends", () => `{"a":"${"x".repeat(15 * MILLION)}`),
  json("escapes by the million", () => `"${"\\u0041".repeat(2 * MILLION)}"`),
  json("a number beyond all bounds", () => `{"a":1${"0".repeat(900_000)}}`),
  json("a key that reaches the prototype", () => '{"a":{"__proto__":{"polluted":true}}}'),
  json("a constructor key", () => '{"constructor":{"prototype":{"polluted":true}}}'),
];
