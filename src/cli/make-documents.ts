import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, extname, join } from "node:path";
import { stringify } from "yaml";
import { checkFixture } from "../documents/fixture-library.ts";
import { formatFixture, generateFixture } from "../documents/generate-fixture.ts";
import type { FixtureData } from "../engine/contract/resource.ts";
import { DEFAULT_SETTINGS, LOCALES } from "../engine/contract/settings.ts";
import { pluralize, toShellWord } from "../engine/contract/text.ts";
import { RESOURCES } from "../engine/resources/index.ts";
import { inferFixtureFromHar } from "../tools/traffic/fixture-from-har.ts";
import { inferScenarioFromHar } from "../tools/traffic/scenario-from-har.ts";
import { Contract } from "../tools/verify/contract.ts";
import type { Result } from "./command.ts";
import { CheckFailed, UsageError } from "./failure.ts";
import { writeNewFile } from "./write-files.ts";

interface FromHarOptions {
  file: string;
  out: string | undefined;
  force: boolean;
}

const MAX_DROPPED_SHOWN = 5;

/**
 * Infers a fixture from a recording. Writes it to `out`, or without `out` returns it for printing.
 * @throws InputError, UnusableTargetError, CheckFailed, DocumentError; UsageError if `out` exists, without `force`
 */
export async function writeFixture({ file, out, force }: FromHarOptions): Promise<Result> {
  const contract = new Contract(RESOURCES);
  const seen = await inferFixtureFromHar({ file, contract, resources: RESOURCES });
  const { fixture, base, counts, dropped, key, bodilessCount } = seen;
  if (Object.keys(counts).length === 0) {
    const missingBodies =
      bodilessCount === 0
        ? ""
        : `; the recorder left out or cut the bodies of ${pluralize(bodilessCount, "answer")}`;
    throw new CheckFailed(`${file} shows no object of this API in an answer that succeeded${missingBodies}`);
  }
  const text = await formatFixture(fixture, `Seen in ${basename(file)}, which recorded ${base}.`);
  if (out === undefined) return { value: fixture, text: text.trimEnd() };
  writeNewFile(out, text, { force, isSecret: true });
  const epoch = fixture["epoch"];
  const countTexts = Object.entries(counts).map(([list, count]) => `${count} ${list}`);
  const values = dropped.length === 1 ? "1 value was" : `${dropped.length} values were`;
  const firstDropped = dropped.slice(0, MAX_DROPPED_SHOWN).join(", ");
  const lines = [
    `Wrote ${out}: ${countTexts.join(", ")}.`,
    ...(bodilessCount === 0
      ? []
      : [`The recorder left out or cut the bodies of ${pluralize(bodilessCount, "answer")}.`]),
    ...(dropped.length === 0 ? [] : [`${values} left out, such as ${firstDropped}.`]),
    `Start the server with --fixture ${toShellWord(out)} --clock frozen@${epoch}; the key is ${key}.`,
  ];
  return { value: { file: out, counts, dropped, key, epoch }, text: lines.join("\n") };
}

/**
 * Infers a scenario from a recording, named after `out`, or without `out` after the recording. Writes or returns it as
 * `writeFixture` does. @throws InputError, UnusableTargetError; UsageError as there
 */
export async function writeScenario({ file, out, force }: FromHarOptions): Promise<Result> {
  const path = out ?? file;
  const withoutExtension = basename(path, extname(path)).replaceAll(/[^A-Za-z0-9._-]+/g, "-");
  const name = withoutExtension.replace(/^[^A-Za-z0-9]+/, "").slice(0, 80) || "recorded";
  const contract = new Contract(RESOURCES);
  const scenario = await inferScenarioFromHar(file, { contract, name });
  const text = stringify(scenario, { lineWidth: 100 });
  if (out === undefined) return { value: scenario, text: text.trimEnd() };
  writeNewFile(out, text, { force });
  const rules = scenario.rules.length;
  return { value: { file: out, name, rules }, text: `Wrote ${out}: ${pluralize(rules, "rule")}.` };
}

interface FixtureOptions {
  from: string | undefined;
  seed: number;
  locale: string;
  count: readonly string[] | undefined;
  /** The file that the caller writes; its extension decides between JSON and YAML. */
  out: string | undefined;
}

/** Generates a fixture and its text, and checks that `start` accepts them. @throws UsageError, DocumentError */
export async function generateCheckedFixture({ from, seed, locale, count, out }: FixtureOptions) {
  if (!Number.isSafeInteger(seed) || seed < 0) throw new UsageError("--seed takes a whole number from 0");
  if (!LOCALES.includes(locale))
    throw new UsageError(`--locale takes one of ${LOCALES.join(", ")}, not "${locale}"`);
  const counts = parseCounts(count);
  const fixture = generateFixture({ resources: RESOURCES, seed, locale, from, counts });
  const command = [
    "understudy fixture generate",
    ...(from === undefined ? [] : [`--from ${toShellWord(from)}`]),
    `--seed ${seed}`,
    ...(locale === DEFAULT_SETTINGS.locale ? [] : [`--locale ${locale}`]),
    ...Object.entries(counts).map(([list, total]) => `--count ${list}=${total}`),
  ].join(" ");
  const isJson = out !== undefined && extname(out).toLowerCase() === ".json";
  const text = isJson ? formatJson(fixture) : await formatFixture(fixture, `Made by: ${command}`);
  requireUsable(text, isJson ? ".json" : ".yaml", counts);
  return { fixture, text };
}

/** Writes one line for each record. */
function formatJson(fixture: FixtureData): string {
  const lines = Object.entries(fixture).map(([key, value]) => {
    const records = Array.isArray(value) ? value.map((record) => `    ${JSON.stringify(record)}`) : undefined;
    const text = records === undefined ? JSON.stringify(value) : `[\n${records.join(",\n")}\n  ]`;
    return `  ${JSON.stringify(key)}: ${text}`;
  });
  return `{\n${lines.join(",\n")}\n}\n`;
}

/** Reads the text as `start` does, so that no file is written that `start` refuses. @throws UsageError */
function requireUsable(text: string, extension: string, { users }: Record<string, number>): void {
  const folder = mkdtempSync(join(tmpdir(), "understudy-generate-"));
  try {
    const file = join(folder, `generated${extension}`);
    writeFileSync(file, text, { mode: 0o600 });
    const error = checkFixture(file, { resources: RESOURCES, cwd: folder });
    if (error === undefined) return;
    const { message } = error.problems[0]!;
    // The limits of a file are larger for JSON (`LARGE_LIMITS`).
    const otherForm = extension === ".json" ? "" : ", or for --out FILE.json";
    // Without a user, no number of other records gives a valid fixture.
    const advice = users === 0 ? "at least one user" : `fewer records${otherForm}`;
    throw new UsageError(`these counts give an invalid fixture: ${message}; ask for ${advice}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function parseCounts(texts: readonly string[] | undefined): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const text of (texts ?? []).flatMap((one) => one.split(","))) {
    const [, list, total] = /^([a-z_]+)=(\d{1,9})$/.exec(text.trim()) ?? [];
    if (list === undefined) throw new UsageError(`--count takes LIST=N such as users=20, not "${text}"`);
    if (Object.hasOwn(counts, list)) throw new UsageError(`--count names ${list} more than once`);
    counts[list] = Number(total);
  }
  return counts;
}
