import { SortedTree } from "../state/sorted-tree.ts";

/** What a key has used of one minute. */
export interface Window {
  readonly minute: number;
  readonly requests: number;
  readonly tokens: number;
}

type Others = SortedTree<string, Window>;
const NO_OTHERS: Others = SortedTree.empty({ compare: (a, _a, b) => (a < b ? -1 : a > b ? 1 : 0) });

/**
 * All that is counted, as one value: where two looks find the same one, nothing was counted between them. The key
 * that was counted last stands in front, since the next request is most often its too, and a history holds a thousand
 * of these, field by field.
 */
export class CountedWindows implements Window {
  static readonly none = new CountedWindows(undefined, { minute: 0, requests: 0, tokens: 0 }, NO_OTHERS);
  readonly key: string | undefined;
  readonly minute: number;
  readonly requests: number;
  readonly tokens: number;
  /** What it says of the key in front is out of date. */
  readonly others: Others;

  constructor(key: string | undefined, { minute, requests, tokens }: Window, others: Others) {
    this.key = key;
    this.minute = minute;
    this.requests = requests;
    this.tokens = tokens;
    this.others = others;
  }

  get(key: string): Window | undefined {
    return key === this.key ? this : this.others.get(key);
  }

  set(key: string, window: Window): CountedWindows {
    if (this.key === undefined || key === this.key) return new CountedWindows(key, window, this.others);
    return new CountedWindows(key, window, this.others.set(this.key, this.front));
  }

  /** The same value when nothing was counted for the key. */
  delete(key: string): CountedWindows {
    const others = this.others.delete(key);
    if (key === this.key) return new CountedWindows(undefined, CountedWindows.none, others);
    return others === this.others ? this : new CountedWindows(this.key, this, others);
  }

  /** By key. */
  entries(): [string, Window][] {
    if (this.key === undefined) return [...this.others.entries()];
    return [...this.others.set(this.key, this.front).entries()];
  }

  /** Without what it stands before. */
  private get front(): Window {
    const { minute, requests, tokens } = this;
    return { minute, requests, tokens };
  }
}
