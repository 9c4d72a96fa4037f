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

/** When a lost connection was last restored, in milliseconds since 1970. */
export const reconnectionTime = createStore(0);

/** Under this key, the tab's sessionStorage alone stores the control token of a shared server (interfaces.md 7). */
const STORAGE_KEY = "understudy-token";

/** Why the server requires a token; null if it does not, or after a login. */
export const tokenRequest = createStore<string | null>(null);

export function getToken(): string | null {
  return sessionStorage.getItem(STORAGE_KEY);
}

export function saveToken(token: string): void {
  sessionStorage.setItem(STORAGE_KEY, token);
  tokenRequest.set(null);
}
