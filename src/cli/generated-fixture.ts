import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { checkFixture } from "../documents/fixture-library.ts";
import { fixtureText, generateFixture } from "../documents/generate-fixture.ts";
import type { FixtureData } from "../engine/contract/resource.ts";
import { DEFAULT_SETTINGS, LOCALES } from "../engine/contract/settings.ts";
import { RESOURCES } from "../engine/resources/index.ts";
import { UsageError } from "./failure.ts";

interface Wanted {
  from: string | undefined;
  seed: number;
  locale: string;
  count: readonly string[] | undefined;
  /** Whose ending says what is written: JSON, or YAML. */
  out: string | undefined;
}

/** @throws UsageError, DocumentError */
export async function generatedFixture({ from, seed, locale, count, out }: Wanted) {
  if (!Number.isSafeInteger(seed) || seed < 0) throw new UsageError("--seed takes a whole number from 0");
  if (!LOCALES.includes(locale))
    throw new UsageError(`--locale takes one of ${LOCALES.join(", ")}, not "${locale}"`);
  const counts = countsOf(count);
  const fixture = generateFixture({ resources: RESOURCES, seed, locale, from, counts });
  const asked = Object.entries(counts).map(([list, total]) => ` --count ${list}=${total}`);
  const command = `understudy fixture generate${from === undefined ? "" : ` --from ${from}`} --seed ${seed}${locale === DEFAULT_SETTINGS.locale ? "" : ` --locale ${locale}`}${asked.join("")}`;
  const isJson = out !== undefined && extname(out).toLowerCase() === ".json";
  const text = isJson ? jsonText(fixture) : await fixtureText(fixture, `Made by: ${command}`);
  requireUsable(text, isJson ? ".json" : ".yaml");
  return { fixture, text };
}

/** A line for each record. */
function jsonText(fixture: FixtureData): string {
  const lines = Object.entries(fixture).map(([key, value]) => {
    const records = Array.isArray(value) ? value.map((record) => `    ${JSON.stringify(record)}`) : undefined;
    const text = records === undefined ? JSON.stringify(value) : `[\n${records.join(",\n")}\n  ]`;
    return `  ${JSON.stringify(key)}: ${text}`;
  });
  return `{\n${lines.join(",\n")}\n}\n`;
}

/** What `start` would refuse is not written: it is read back as `start` reads it. @throws UsageError */
function requireUsable(text: string, extension: string): void {
  const folder = mkdtempSync(join(tmpdir(), "understudy-generate-"));
  try {
    const file = join(folder, `generated${extension}`);
    writeFileSync(file, text, { mode: 0o600 });
    const error = checkFixture(file, { resources: RESOURCES, cwd: folder });
    if (error === undefined) return;
    const [{ message }] = error.problems as [(typeof error.problems)[0]];
    const advice =
      extension === ".json" ? "ask for fewer records" : "ask for fewer records, or for --out FILE.json";
    throw new UsageError(`these counts make no fixture that start takes: ${message}; ${advice}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function countsOf(texts: readonly string[] | undefined): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const text of (texts ?? []).flatMap((one) => one.split(","))) {
    const [, list, total] = /^([a-z_]+)=(\d{1,9})$/.exec(text.trim()) ?? [];
    if (list === undefined) throw new UsageError(`--count takes LIST=N such as users=20, not "${text}"`);
    if (Object.hasOwn(counts, list)) throw new UsageError(`--count names ${list} more than once`);
    counts[list] = Number(total);
  }
  return counts;
}
