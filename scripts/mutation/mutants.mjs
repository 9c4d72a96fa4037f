// Instruments source files with all of their mutants; each is switched on by its id.

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { commonTokens } from "@stryker-mutator/api/plugin";
import { createInstrumenter } from "@stryker-mutator/instrumenter";
import { createInjector } from "typed-inject";

/** Properties that only documentation shows; `generate --check` compares their texts. */
const PROSE = new Set(["description", "summary", "purpose"]);

const DOCUMENTATION = {
  shouldIgnore({ node }) {
    const isProse = node.type === "ObjectProperty" && PROSE.has(node.key.name ?? node.key.value);
    return isProse ? "generate --check compares it" : undefined;
  },
};

/** `instrumented`: the texts of the files by absolute path; `mutants`: each with its original and its replacement. */
export async function listMutants(names) {
  const silent = new Proxy({}, { get: () => () => {} });
  const instrumenter = createInjector()
    .provideValue(commonTokens.getLogger, () => silent)
    .provideValue(commonTokens.logger, silent)
    .injectFunction(createInstrumenter);
  const sources = names.map((name) => ({ name, content: readFileSync(name, "utf8"), mutate: true }));
  const options = { plugins: null, excludedMutations: [], ignorers: [DOCUMENTATION], noHeader: false };
  const { files, mutants } = await instrumenter.instrument(sources, options);
  const lines = new Map(sources.map(({ name, content }) => [name, content.split("\n")]));
  return {
    instrumented: new Map(files.map(({ name, content }) => [resolve(name), content])),
    mutants: mutants
      .filter(({ status }) => status !== "Ignored")
      .map((mutant) => ({ ...mutant, original: sliceText(lines.get(mutant.fileName), mutant.location) })),
  };
}

function sliceText(lines, { start, end }) {
  const part = lines.slice(start.line, end.line + 1);
  part[part.length - 1] = part.at(-1).slice(0, end.column);
  part[0] = part[0].slice(start.column);
  return part.join("\n");
}

/** Shuffles a copy by Fisher and Yates with mulberry32; the same seed gives the same order. */
export function shuffle(list, seed) {
  const result = [...list];
  let state = seed | 0;
  for (let i = result.length - 1; i > 0; i--) {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    const j = Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * (i + 1));
    [result[i], result[j]] = [result[j], result[i]];
  }
  return result;
}
