/**
 * Values by key: the most recently used are stored, others stay as long as they are referenced elsewhere. Sandboxes that
 * start from the same fixture share it, and unused ones are collected.
 */
export class WeakLruCache<K, V extends object> {
  private readonly recent = new Map<K, V>();
  private readonly references = new Map<K, WeakRef<V>>();
  private readonly onCollected = new FinalizationRegistry<K>((key) => {
    if (this.references.get(key)?.deref() === undefined) this.references.delete(key);
  });
  private readonly size: number;

  constructor(size: number) {
    this.size = size;
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

  /** All values that are still referenced. */
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
    if (this.recent.size <= this.size) return;
    for (const oldest of this.recent.keys()) {
      this.recent.delete(oldest);
      return;
    }
  }
}
