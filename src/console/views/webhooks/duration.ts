const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const PART = /(\d+(?:\.\d+)?)(ms|[dhms])/g;

/** Milliseconds of a duration as settings write it (`90s`, `1h30m`, `PT5M`, a number); NaN for anything else. */
export function durationMs(value: string | number): number {
  const text = String(value).trim().toLowerCase();
  if (/^\d+$/.test(text)) return Number(text);
  const parts = text.replace(/^p/, "").replace("t", "");
  if (parts === "" || parts.replace(PART, "") !== "") return Number.NaN;
  let total = 0;
  for (const [, count, unit] of parts.matchAll(PART)) total += Number(count) * UNIT_MS[unit!]!;
  return total;
}

/** "1m", "1h 21m": a span as short as it can be said. */
export function spanWords(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)}ms`;
  const words: string[] = [];
  let left = Math.round(ms / 1000) * 1000;
  for (const unit of ["d", "h", "m", "s"]) {
    const count = Math.floor(left / UNIT_MS[unit]!);
    if (count > 0) words.push(`${count}${unit}`);
    left -= count * UNIT_MS[unit]!;
  }
  return words.slice(0, 2).join(" ");
}
