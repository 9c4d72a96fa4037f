import type { SandboxState } from "../../../../types/control-api.ts";

export interface Branch {
  sandbox: SandboxState;
  /** How many of the sandboxes above it are its ancestors. */
  depth: number;
}

/** Forks below the sandbox that they come from; those whose origin was deleted have no other place. */
export function orderByLineage(sandboxes: readonly SandboxState[]): Branch[] {
  const names = new Set(sandboxes.map(({ name }) => name));
  const branches: Branch[] = [];
  const listed = new Set<string>();
  const add = (sandbox: SandboxState, depth: number): void => {
    // A name can be used again, by a fork of its own fork.
    if (listed.has(sandbox.name)) return;
    listed.add(sandbox.name);
    branches.push({ sandbox, depth });
    for (const one of sandboxes) if (one.forked_from === sandbox.name) add(one, depth + 1);
  };
  for (const one of sandboxes) if (!names.has(one.forked_from ?? "")) add(one, 0);
  for (const one of sandboxes) add(one, 0);
  return branches;
}
