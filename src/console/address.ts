import { useCallback } from "react";
import { useLocation, useParams, useSearchParams } from "wouter";

/** Prefix of every address of the console. */
export const BASE = "/_console";

export type Parameters = Readonly<Record<string, string | undefined>>;

/** Address of a view below BASE. `parameters` describe what the view shows, so that a link shows the same. */
export function toAddress(sandbox: string, view: string, parameters: Parameters = {}): string {
  const given = Object.entries(parameters).filter((pair): pair is [string, string] => Boolean(pair[1]));
  const search = given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
  return `/s/${encodeURIComponent(sandbox)}/${view}${search}`;
}

/** Name of the sandbox in the address. */
export function useSandboxName(): string {
  return useParams<{ sandbox: string }>().sandbox;
}

export interface ViewParameters {
  get(name: string): string | undefined;
  /** An undefined value removes the parameter. `replace` adds no browser history entry, for example while typing. */
  set(change: Parameters, options?: { replace?: boolean }): void;
}

/** Query parameters of the address. */
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

/** Navigates to a view, of the current sandbox by default. */
export function useGo() {
  const [, navigate] = useLocation();
  const here = useSandboxName();
  return useCallback(
    (view: string, parameters: Parameters = {}, sandbox: string = here) =>
      navigate(toAddress(sandbox, view, parameters)),
    [navigate, here],
  );
}
