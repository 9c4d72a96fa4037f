import { useSyncExternalStore } from "react";

/**
 * The control token of a shared server (interfaces 7). It lives in this tab's sessionStorage and nowhere else.
 */
const STORAGE_KEY = "understudy-token";

interface TokenState {
  /** Why the server wants a token; null if it does not. */
  asked: string | null;
}

let state: TokenState = { asked: null };
const listeners = new Set<() => void>();

export function currentToken(): string | null {
  return sessionStorage.getItem(STORAGE_KEY);
}

/** Opens the login dialog after a 401. */
export function requestToken(why: string): void {
  change({ asked: why });
}

export function saveToken(token: string): void {
  sessionStorage.setItem(STORAGE_KEY, token);
  change({ asked: null });
}

export function onToken(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useTokenState(): TokenState {
  return useSyncExternalStore(onToken, () => state);
}

function change(next: TokenState): void {
  if (next.asked === state.asked) return;
  state = next;
  for (const listener of listeners) listener();
}
