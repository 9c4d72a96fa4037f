import type { Sandbox } from "../sandbox/sandbox.ts";
import type { Root } from "../state/root.ts";
import { presentClock } from "./clock-input.ts";

/** A sandbox as the control API shows it (interfaces 4). */
export function presentSandbox(sandbox: Sandbox, origin: string) {
  const { name, fixture, seed, settings, world, faults } = sandbox;
  world.catchUp();
  return {
    name,
    base_url: baseUrlOf(name, origin),
    fixture,
    seed,
    clock: presentClock(world),
    scenarios: [...faults.scenarios],
    settings,
    created_at: new Date(sandbox.created_at).toISOString(),
    counts: countsOf(world.root),
  };
}

/** A complete base URL for any client of the emulated API (interfaces 3). */
export function baseUrlOf(name: string, origin: string): string {
  return name === "default" ? origin : `${origin}/_s/${name}`;
}

/** Records by collection; tables of the server's own are nobody's business. */
export function countsOf({ tables }: Root): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name in tables) {
    if (!tables[name]!.collection.internal) counts[name] = tables[name]!.size;
  }
  return counts;
}

export function recordsOf(root: Root): number {
  return Object.values(countsOf(root)).reduce((sum, count) => sum + count, 0);
}
