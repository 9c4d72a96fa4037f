import { type ComponentType, lazy } from "react";
import type { TimelineData } from "../live/timeline-data.ts";

export interface View {
  /** Last part of the view's address: `/_console/s/default/ID`. */
  id: string;
  title: string;
  /** One line for the palette and the link's tooltip. */
  about: string;
  /** Outline of 20 by 20, drawn in the text colour. */
  icon: string;
}

/** In the order of the navigation; the first is the home view. */
export const VIEWS: readonly View[] = [
  {
    id: "timeline",
    title: "Timeline",
    about: "Requests, changes and why they happened; rewind, fork, export",
    icon: "M3 5h9M3 10h14M6 15h8",
  },
  {
    id: "faults",
    title: "Faults",
    about: "Scenarios and fault rules",
    icon: "M11 2.5L4.5 11.5H10L9 17.5l6.5-9H10z",
  },
  {
    id: "time",
    title: "Time",
    about: "The sandbox clock, pending and recent timers",
    icon: "M10 2.5a7.5 7.5 0 1 1 0 15a7.5 7.5 0 1 1 0-15zM10 6v4.3l3 1.7",
  },
  {
    id: "webhooks",
    title: "Webhooks",
    about: "Deliveries, retries, test events and receivers",
    icon: "M10 3.5a3.5 3.5 0 0 1 2 6.4l2.4 4.1M7.5 14.5a3.5 3.5 0 1 1-3.3-4.4M8.2 8.6l-3 5M16 11.2a3.5 3.5 0 1 1-3.8 5.2H9",
  },
  {
    id: "world",
    title: "World",
    about: "Records, departments, usage, snapshots",
    icon: "M10 3a7 7 0 1 1 0 14a7 7 0 1 1 0-14zM3 10h14M10 3c5 4 5 10 0 14M10 3c-5 4-5 10 0 14",
  },
  {
    id: "api",
    title: "API",
    about: "Every operation: schemas, assumptions, try it out",
    icon: "M7 5l-4 5l4 5M13 5l4 5l-4 5M11 4l-2 12",
  },
  {
    id: "coverage",
    title: "Coverage",
    about: "Which documented outcomes have been seen",
    icon: "M3 3h5v5h-5zM12 3h5v5h-5zM3 12h5v5h-5zM12 12h5v5h-5z",
  },
  {
    id: "client",
    title: "Client test",
    about: "Use your application by hand, and see how it handles failures",
    icon: "M4 3h9v14H4zM13 6h3v11h-3M6.5 9l2 2l3-4",
  },
  {
    id: "keys",
    title: "Keys",
    about: "Create and revoke API keys",
    icon: "M7 4a4 4 0 1 1 0 8a4 4 0 1 1 0-8zM9.8 10.8l6.7 6.7M13.5 14.5l2-2",
  },
  {
    id: "sandboxes",
    title: "Sandboxes",
    about: "Create, reset, fork and delete sandboxes",
    icon: "M3 6l7-3.5L17 6l-7 3.5zM3 10l7 3.5L17 10M3 14l7 3.5L17 14",
  },
];
export const HOME = VIEWS[0]!;

/** Loads a view on first use: its folder's `index.tsx`. */
const LOADERS = import.meta.glob<{ default: ComponentType }>("./*/index.tsx");
const load = (id: string) => LOADERS[`./${id}/index.tsx`]!();
const COMPONENTS = new Map<string, ComponentType>(VIEWS.map(({ id }) => [id, lazy(() => load(id))]));

export function findComponent(id: string): ComponentType | undefined {
  return COMPONENTS.get(id);
}

/** Loads a view before React renders it: a suspended view shows its fallback for at least 300 ms. */
export async function prepareView(id: string): Promise<void> {
  if (!COMPONENTS.has(id)) return;
  // If loading fails, rendering the view reports the error.
  const loadedModule = await load(id).catch(() => undefined);
  if (loadedModule) COMPONENTS.set(id, loadedModule.default);
}

export function findViewInPath(path: string): string {
  return /\/s\/[^/]+\/([^/?#]+)/.exec(path)?.[1] ?? HOME.id;
}

/** An item of the palette. */
export interface Command {
  /** Unique among all commands. */
  id: string;
  group: string;
  title: string;
  detail?: string | undefined;
  /** The address that the command opens, below CONSOLE_BASE. */
  to?: string;
  /** Runs an action, then shows a message that it succeeded. */
  run?: () => Promise<unknown>;
}

/** Finds commands for the sandbox in the address. Called for each change of the text, a few times a second. */
export type FindCommands = (
  typed: string,
  sandbox: string,
  timeline: TimelineData,
) => Promise<readonly Command[]>;
