import type { SandboxCalls } from "../../api/calls.ts";

/** Reads the active scenarios first, since other clients may have changed them. */
export async function switchScenario(calls: SandboxCalls, { name, on }: { name: string; on: boolean }) {
  const { scenarios } = await calls.show();
  const others = scenarios.filter((other) => other !== name);
  return calls.activate(on ? [...others, name] : others);
}
