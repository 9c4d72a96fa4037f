import { fixtureText, generateFixture } from "../fixtures/generate-fixture.ts";
import { RESOURCES } from "../resources/index.ts";
import { UsageError } from "./failure.ts";

interface Wanted {
  from: string | undefined;
  seed: number;
  count: readonly string[] | undefined;
}

/** @throws UsageError, DocumentError */
export async function generatedFixture({ from, seed, count }: Wanted) {
  if (!Number.isSafeInteger(seed) || seed < 0) throw new UsageError("--seed takes a whole number from 0");
  const counts = countsOf(count);
  const fixture = generateFixture({ resources: RESOURCES, seed, from, counts });
  const asked = Object.entries(counts).map(([list, total]) => ` --count ${list}=${total}`);
  const command = `understudy fixture generate${from === undefined ? "" : ` --from ${from}`} --seed ${seed}${asked.join("")}`;
  return { fixture, text: await fixtureText(fixture, `Made by: ${command}`) };
}

function countsOf(texts: readonly string[] | undefined): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const text of (texts ?? []).flatMap((one) => one.split(","))) {
    const [, list, total] = /^([a-z_]+)=(\d{1,9})$/.exec(text.trim()) ?? [];
    if (list === undefined) throw new UsageError(`--count takes LIST=N such as users=20, not "${text}"`);
    counts[list] = Number(total);
  }
  return counts;
}
