// Finds words and sentence patterns that cost readers a second reading (design rules: CONTRIBUTING.md, "Words"):
//   node scripts/lint-words.mjs              src/, bin/, scripts/, types/, scenarios/, fixtures/, test/, bench/, matrix/, docs/, README.md, CONTRIBUTING.md
//   node scripts/lint-words.mjs src/cli      a folder or file
//   node scripts/lint-words.mjs --count      only how often each pattern was found
// An exception is a line of scripts/word-exceptions.txt: path, pattern's name, a part of the line, the reason; by tabs.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

const PATTERNS = {
  whoever: /\bwhoever\b/i,
  told: /\b(told|tells? of|telling of)\b/i,
  anew: /\b(anew|once more)\b/i,
  "so many": /\bso many\b(?! that)/i,
  heed: /\bheed(s|ed|ing)?\b/i,
  mend: /\bmend(s|ed|ing)?\b/i,
  "stands in": /\b(stand|stands|stood|standing) (in|under|beside|beneath|above|behind|there)\b/i,
  "let go": /\b(let|lets|letting) go\b/i,
  besides: /\bbesides\b/i,
  "in its turn": /\bin (its|their|his) turn\b/i,
  nobody: /\b(nobody|somebody)\b/i,
  "be it": /\bbe it\b/i,
  "comment that begins with Of": /(\/\*\*|\/\/|^\s*\*) Of [a-z]/,
  whence: /\b(whence|thence|hence|thereof|therein|wherein)\b/i,
  "what as subject": /(\/\*\*|\/\/|\* |[.:;] )\s*(What|Who) (?![^.]*\?)[a-z]/,
  "is no":
    /\b(is|was) no (?!(longer|more|less|one|older|newer|later|need|reason|way|room|error|answer)\b)(?<!\b[tT]here (is|was) no )[a-z]/,
  strikes: /\b(struck|strikes|foretells?|foretold)\b/,
  beneath: /\b(beneath|lest)\b/,
  "made up": /\bmade[- ]up\b/,
  "hears of": /\bhears? of\b/,
  "first day": /\bfirst day\b/,
  "all the same": /\ball the same\b/,
  "leave away": /\bleav(e|es|ing) .{1,30} away\b/,
  "function xOf": /\bfunction [a-z]\w*Of\b|\bconst [a-z]\w*Of = (async )?(\(|<|function|[a-z]\w* =>)/,
  "method xOf":
    /^\s+((private|protected|static|async|override|readonly) )*\*?(?!indexOf|lastIndexOf)[a-z]\w*Of(<[^>]*>)?\([^)]*\)(: .*)?( \{|;)$/,
};

/** Files that are generated, or quote the reference or the patterns. */
const IGNORED_FILES = [
  "docs/reference/service-api.md",
  "docs/openapi.json",
  "docs/control-api.json",
  "types/control-api.ts",
  "scripts/lint-words.mjs",
];

const exceptions = readFileSync(join(root, "scripts/word-exceptions.txt"), "utf8")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"))
  .map((line) => {
    const [path, pattern, part, reason] = line.split("\t");
    if (!reason) throw new Error(`scripts/word-exceptions.txt: no reason is given: ${line}`);
    return { path, pattern, part, used: false };
  });

function* listFiles(path) {
  if (statSync(path).isFile()) return yield path;
  for (const name of readdirSync(path).sort()) yield* listFiles(join(path, name));
}

const SOURCES = ["src", "bin", "scripts", "types", "scenarios", "fixtures"];
const PLACES = [
  ...SOURCES,
  "test",
  "bench/src",
  "bench/README.md",
  "matrix",
  "docs",
  "README.md",
  "CONTRIBUTING.md",
];

function isLinted(file) {
  const path = relative(root, file).replaceAll(sep, "/");
  return /\.(ts|tsx|md|mjs|js|yaml)$/.test(path) && !IGNORED_FILES.includes(path);
}

/** The title of a test that does not begin with its subject. */
const VAGUE_TITLE = /^(what|who|whoever|whose|ones? (that|which)) /i;

/** The title of a test; a long one is alone on its line. */
function findTestTitle(line) {
  const [, , inCall, , alone] =
    /(?:\b(?:it|test|describe)[.\w]*|\]\))\((["'`])(.*?)\1,|^\s*(["'`])(.*)\3,$/.exec(line) ?? [];
  return inCall ?? alone ?? "";
}

/** The part of a line that is linted: titles, comments and names of tests, but not their data; comments and descriptions of YAML; else all. */
function selectLinted(path, line) {
  if (path.startsWith("test/")) {
    const title = /\((["'`])(.*?)\1, (async|function|\()/.exec(line)?.[2] ?? "";
    return `${title} ${line.replace(/(["'`])(?:\\.|(?!\1).)*\1/g, '""')}`;
  }
  return !path.endsWith(".yaml") || /^\s*(#|description:)/.test(line) ? line : "";
}

const args = process.argv.slice(2);
const places = args.filter((arg) => !arg.startsWith("--"));
const counts = {};
let found = 0;
for (const place of places.length > 0 ? places : PLACES) {
  for (const file of listFiles(join(root, place))) {
    if (!isLinted(file)) continue;
    const path = relative(root, file).replaceAll(sep, "/");
    for (const [index, line] of readFileSync(file, "utf8").split("\n").entries()) {
      // The table of CONTRIBUTING.md lists the words themselves.
      if (path === "CONTRIBUTING.md" && line.startsWith("|")) continue;
      const linted = selectLinted(path, line);
      const patterns = Object.entries(PATTERNS).filter(([, pattern]) => pattern.test(linted));
      if (/\.test\.tsx?$/.test(path) && VAGUE_TITLE.test(findTestTitle(line))) patterns.push(["vague title"]);
      for (const [name] of patterns) {
        if (name === "what as subject" && !/\.tsx?$/.test(path)) continue;
        const exception = exceptions.find(
          (one) => one.path === path && one.pattern === name && line.includes(one.part),
        );
        if (exception) exception.used = true;
        else {
          found++;
          counts[name] = (counts[name] ?? 0) + 1;
          if (!args.includes("--count"))
            console.log(`${path}:${index + 1}: ${name}: ${line.trim().slice(0, 140)}`);
        }
      }
    }
  }
}
if (places.length === 0) {
  for (const { path, pattern } of exceptions.filter(({ used }) => !used)) {
    console.log(`scripts/word-exceptions.txt: no longer needed: ${path} ${pattern}`);
    found++;
  }
}
if (args.includes("--count")) console.log(counts);
if (found > 0) {
  console.log(`${found} places; CONTRIBUTING.md says what to write instead`);
  process.exit(1);
}
