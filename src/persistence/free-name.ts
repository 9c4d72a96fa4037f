import { existsSync } from "node:fs";

/** The name itself, or with a number behind it, so that nothing is written over. */
export function freeName(name: string): string {
  let free = name;
  for (let n = 2; existsSync(free); n++) free = `${name}-${n}`;
  return free;
}
