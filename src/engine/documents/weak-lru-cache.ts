/**
 * Values by key. The `maxRecent` most recently used ones stay in memory, others as long as something else refers to them:
 * sandboxes that start from the same fixture share it, and an unused fixture is collected.
 */
export class WeakLruCache<K, V extends object> {
  private readonly recent = new Map<K, V>();
  private readonly references = new Map<K, WeakRef<V>>();
  private readonly onCollected = new FinalizationRegistry<K>((key) => {
    if (this.references.get(key)?.deref() === undefined) this.references.delete(key);
  });
  private readonly maxRecent: number;

  constructor(maxRecent: number) {
    this.maxRecent = maxRecent;
  }

  get(key: K): V | undefined {
    const value = this.recent.get(key) ?? this.references.get(key)?.deref();
    if (value !== undefined) this.touch(key, value);
    return value;
  }

  set(key: K, value: V): void {
    this.references.set(key, new WeakRef(value));
    this.onCollected.register(value, key);
    this.touch(key, value);
  }

  /** All values that are still in memory. */
  *values(): Generator<V> {
    for (const reference of this.references.values()) {
      const value = reference.deref();
      if (value !== undefined) yield value;
    }
  }

  private touch(key: K, value: V): void {
    // The newest is last; the oldest is evicted.
    this.recent.delete(key);
    this.recent.set(key, value);
    if (this.recent.size > this.maxRecent) this.recent.delete(this.recent.keys().next().value!);
  }
}
