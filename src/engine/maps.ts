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

export function groupBy<K, V>(values: Iterable<V>, toKey: (value: V) => K): Map<K, V[]> {
  const groups = new Map<K, V[]>();
  for (const value of values) getOrAdd(groups, toKey(value), () => []).push(value);
  return groups;
}
