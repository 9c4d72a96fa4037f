import { type ComponentType, lazy } from "react";
import { HOME, VIEWS } from "./index.ts";

const COMPONENTS = new Map<string, ComponentType>(VIEWS.map(({ id, load }) => [id, lazy(load)]));

/** Undefined where there is no such view. */
export const componentOf = (id: string): ComponentType | undefined => COMPONENTS.get(id);

/**
 * Loads a view before it is drawn. One that is waited for while drawing shows that it is, and React lets what it has
 * shown so stand for 300 ms.
 */
export async function prepareView(id: string): Promise<void> {
  const view = VIEWS.find((one) => one.id === id);
  // Where it cannot be had, drawing it says so.
  const loaded = await view?.load().catch(() => undefined);
  if (loaded) COMPONENTS.set(id, loaded.default);
}

/** The view that an address asks for. */
export function viewIn(path: string): string {
  return /\/s\/[^/]+\/([^/?#]+)/.exec(path)?.[1] ?? HOME.id;
}
