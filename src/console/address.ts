import { useLocation, useParams, useSearchParams } from "wouter";
import { appendQuery } from "./api/fetch-control.ts";

/** Prefix of every address of the console. In the static viewer, a path may precede `/_console`. */
export const CONSOLE_BASE = /^.*?\/_console(?=\/|$)/.exec(globalThis.location?.pathname)?.[0] ?? "/_console";

export type Parameters = Readonly<Record<string, string | undefined>>;

/** Address of a view below CONSOLE_BASE. `parameters` describe what the view shows, so that a link shows the same. */
export function toAddress(sandbox: string, view: string, parameters: Parameters = {}): string {
  return appendQuery(`/s/${encodeURIComponent(sandbox)}/${view}`, parameters);
}

export function useSandboxName(): string {
  return useParams<{ sandbox: string }>().sandbox;
}

export function useParameters() {
  const [search, setSearch] = useSearchParams();
  return {
    get: (name: string) => search.get(name) ?? undefined,
    /** Every parameter, for links that change some of them. */
    all: Object.fromEntries(search) as Parameters,
    /** An undefined or empty value removes the parameter. `replace` adds no browser history entry, for example while typing. */
    set: (change: Parameters, options: { replace?: boolean } = {}) =>
      setSearch((before) => {
        const after = new URLSearchParams(before);
        for (const [name, value] of Object.entries(change)) {
          if (value) after.set(name, value);
          else after.delete(name);
        }
        return after;
      }, options),
  };
}

/** The row that the address selects by `rowParameter`; `formParameter` opens the form for a new one. */
export function useSelection(rowParameter: string, formParameter = "make") {
  const { get, set } = useParameters();
  const change = (row?: string, form?: string) => set({ [rowParameter]: row, [formParameter]: form });
  return {
    selected: get(rowParameter),
    isCreating: get(formParameter) !== undefined,
    select: (id: string) => change(id),
    create: () => change(undefined, "new"),
    close: () => change(),
  };
}

/** Value of the parameter `record` that opens the form for a new record. */
export const NEW_RECORD = "+";

/** Navigates to a view, of the current sandbox by default. */
export function useNavigateToView() {
  const [, navigate] = useLocation();
  const here = useSandboxName();
  return (view: string, parameters: Parameters = {}, sandbox: string = here) =>
    navigate(toAddress(sandbox, view, parameters));
}
