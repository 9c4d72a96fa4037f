import { useCallback } from "react";
import { useLocation, useParams, useSearchParams } from "wouter";

/** Where every address of the console begins. */
export const BASE = "/_console";

export type Parameters = Readonly<Record<string, string | undefined>>;

/** The address of a view, below BASE. What a view shows belongs into `parameters`, so that it can be shared. */
export function addressOf(sandbox: string, view: string, parameters: Parameters = {}): string {
  const given = Object.entries(parameters).filter((pair): pair is [string, string] => Boolean(pair[1]));
  const search = given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
  return `/s/${encodeURIComponent(sandbox)}/${view}${search}`;
}

/** The sandbox that the address names. */
export function useSandboxName(): string {
  return useParams<{ sandbox: string }>().sandbox;
}

export interface ViewParameters {
  get(name: string): string | undefined;
  /** An undefined value leaves the address. `replace`: no step in the browser's history, as for each key typed. */
  set(change: Parameters, options?: { replace?: boolean }): void;
}

/** The part of the address behind the question mark. */
export function useParameters(): ViewParameters {
  const [search, setSearch] = useSearchParams();
  const get = useCallback((name: string) => search.get(name) ?? undefined, [search]);
  const set = useCallback(
    (change: Parameters, options: { replace?: boolean } = {}) =>
      setSearch((before) => {
        const after = new URLSearchParams(before);
        for (const [name, value] of Object.entries(change)) {
          if (value) after.set(name, value);
          else after.delete(name);
        }
        return after;
      }, options),
    [setSearch],
  );
  return { get, set };
}

/** Goes to a view of the same sandbox, or of another. */
export function useGo() {
  const [, navigate] = useLocation();
  const here = useSandboxName();
  return useCallback(
    (view: string, parameters: Parameters = {}, sandbox: string = here) =>
      navigate(addressOf(sandbox, view, parameters)),
    [navigate, here],
  );
}
