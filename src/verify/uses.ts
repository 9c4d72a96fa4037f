import { readFileSync } from "node:fs";
import { nearest } from "../documents/nearest.ts";
import { readDocument } from "../documents/read-document.ts";
import { USABLE, USABLE_AS } from "./known-objects.ts";

/** What `--use` says cannot be used. */
export class UseError extends Error {}

/**
 * `NAME=ID` (several with commas), or a YAML or JSON file of such pairs.
 * @throws UseError, DocumentError
 */
export function readUses(options: readonly string[]): Map<string, string[]> {
  const uses = new Map<string, string[]>();
  for (const option of options) {
    const [, name, value] = /^([a-z_]+)=(.*)$/s.exec(option) ?? [];
    if (name === undefined) for (const [key, ids] of pairsOf(option)) add(uses, key, ids);
    // A URL may hold commas; ids do not.
    else add(uses, name, name === "webhook_url" ? [value!] : value!.split(","));
  }
  return uses;
}

function pairsOf(file: string): [string, string[]][] {
  const { value } = readDocument(readFileSync(file, "utf8"), { file });
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new UseError(`${file} must hold names and ids, such as \`transcription_id: trans_short\``);
  return Object.entries(value).map(([name, ids]) => [name, [ids].flat().map((id) => String(id))]);
}

function add(uses: Map<string, string[]>, written: string, values: readonly string[]): void {
  const name = USABLE_AS[written] ?? written;
  if (!Object.hasOwn(USABLE, name)) {
    const meant = nearest(written, [...Object.keys(USABLE), ...Object.keys(USABLE_AS)]);
    const hint =
      meant === undefined ? `It takes ${Object.keys(USABLE).join(", ")}.` : `Did you mean "${meant}"?`;
    throw new UseError(`--use does not know "${written}". ${hint}`);
  }
  const ids = values.map((value) => value.trim()).filter((value) => value !== "");
  if (ids.length === 0) throw new UseError(`--use ${written} is empty`);
  uses.set(name, [...(uses.get(name) ?? []), ...ids]);
}
