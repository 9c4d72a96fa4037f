import { useSyncExternalStore } from "react";

/** A value outside of React. `use` is the hook that reads it and rerenders the component when it changes. */
export function createStore<T>(initial: T) {
  let value = initial;
  const listeners = new Set<() => void>();
  const get = () => value;
  const subscribe = (listener: () => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  return {
    get,
    subscribe,
    set(next: T): void {
      if (next === value) return;
      value = next;
      for (const listener of listeners) listener();
    },
    use: () => useSyncExternalStore(subscribe, get),
  };
}

type StorageName = "localStorage" | "sessionStorage";

/** Values that the browser refused to store, which last as long as the page. */
const unstoredValues = new Map<string, string>();

export function readStored(storage: StorageName, key: string): string | null {
  try {
    return globalThis[storage].getItem(key);
  } catch {
    return unstoredValues.get(key) ?? null;
  }
}

export function storeValue(storage: StorageName, key: string, value: string): void {
  try {
    globalThis[storage].setItem(key, value);
  } catch {
    unstoredValues.set(key, value);
  }
}

/** When a lost connection was last restored, in milliseconds since 1970. */
export const reconnectionTime = createStore(0);

/** Under this key, the tab's sessionStorage alone stores the control token of a shared server (interfaces.md 7). */
const STORAGE_KEY = "understudy-token";

/** Why the server requires a token; null if it does not, or after a login. */
export const tokenRequest = createStore<string | null>(null);

export function getToken(): string | null {
  return readStored("sessionStorage", STORAGE_KEY);
}

export function saveToken(token: string): void {
  storeValue("sessionStorage", STORAGE_KEY, token);
  tokenRequest.set(null);
}
