import { useSyncExternalStore } from "react";

/**
 * The control token of a shared server (interfaces 7). Kept for this tab alone: sessionStorage ends with it, and
 * nothing else of the console ever holds the token.
 */
const PLACE = "understudy-token";

interface TokenState {
  /** The server asked for one, or refused the one there is; it says why. */
  asked: string | null;
}

let state: TokenState = { asked: null };
const listeners = new Set<() => void>();

export function currentToken(): string | null {
  return sessionStorage.getItem(PLACE);
}

/** The server answered 401; whoever shows the form is told. */
export function tokenRefused(why: string): void {
  change({ asked: why });
}

export function keepToken(token: string): void {
  sessionStorage.setItem(PLACE, token);
  change({ asked: null });
}

export function forgetToken(): void {
  sessionStorage.removeItem(PLACE);
  change({ asked: "You logged out. Give the control token to come back." });
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
