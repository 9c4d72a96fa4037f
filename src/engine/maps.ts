/** The value of a key; if there is none, it is made and stored. */
export function getOrAdd<K, V>(
  map: { get(key: K): V | undefined; set(key: K, value: V): unknown },
  key: K,
  make: () => V,
): V {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}

/** A function that computes its value at the first call. */
export function computeOnce<T>(make: () => T): () => T {
  let value: T | undefined;
  return () => {
    value ??= make();
    return value;
  };
}

export function groupBy<K, V>(values: Iterable<V>, toKey: (value: V) => K): Map<K, V[]> {
  const groups = new Map<K, V[]>();
  for (const value of values) getOrAdd(groups, toKey(value), () => []).push(value);
  return groups;
}

/** The pairs of a flat list such as Node's raw headers: name, value, name, value. */
export function toPairs(items: readonly string[]): [name: string, value: string][] {
  const pairs: [string, string][] = [];
  for (let i = 0; i < items.length; i += 2) pairs.push([items[i]!, items[i + 1]!]);
  return pairs;
}

/** The object's own value: every object inherits one for names such as `constructor`. */
export function getOwn<T>(object: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** Copies a JSON value, or dates as texts, since a user's handler may change values that it has received or returned. */
export function copyJson(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(copyJson);
  const entries = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(entries.map(([name, field]) => [name, copyJson(field)]));
}

/** Whether two JSON values are equal, with any names of fields, such as `constructor`. */
export function isEqual(a: unknown, b: unknown): boolean {
  if (Object.is(a, b) || a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [fields, otherFields] = [a, b] as Record<string, unknown>[];
  const names = Object.keys(fields!);
  return (
    names.length === Object.keys(otherFields!).length &&
    names.every((name) => Object.hasOwn(otherFields!, name) && isEqual(fields![name], otherFields![name]))
  );
}

export function mapValues<A, B>(
  record: Readonly<Record<string, A>>,
  change: (value: A, key: string) => B,
): Record<string, B> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value, key)]));
}
