import { readFileSync } from "node:fs";
import { nearest } from "../../engine/documents/nearest.ts";
import { readDocument } from "../../engine/documents/read-document.ts";
import type { ObjectNames } from "./object-names.ts";
import { USABLE, usableName, writableNames } from "./usable.ts";

/** What `--use` says cannot be used. */
export class UseError extends Error {}

/**
 * `NAME=ID` (several with commas), or a YAML or JSON file of such pairs.
 * @throws UseError, DocumentError
 */
export function readUses(options: readonly string[], names: ObjectNames): Map<string, string[]> {
  const uses = new Map<string, string[]>();
  const add = (written: string, values: readonly string[]) => {
    const name = usableName(names, written);
    if (name === undefined) throw unknownName(written, names);
    const ids = values.map((value) => value.trim()).filter((value) => value !== "");
    if (ids.length === 0) throw new UseError(`--use ${written} is empty`);
    uses.set(name, [...(uses.get(name) ?? []), ...ids]);
  };
  for (const option of options) {
    const [, name, value] = /^([a-z_]+)=(.*)$/s.exec(option) ?? [];
    if (name === undefined) for (const [key, ids] of pairsOf(option)) add(key, ids);
    // A URL may hold commas; ids do not.
    else add(name, name === "webhook_url" ? [value!] : value!.split(","));
  }
  return uses;
}

function pairsOf(file: string): [string, string[]][] {
  const { value } = readDocument(readFileSync(file, "utf8"), { file });
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new UseError(`${file} must hold names and ids, such as \`transcription_id: trans_short\``);
  return Object.entries(value).map(([name, ids]) => [name, [ids].flat().map((id) => String(id))]);
}

function unknownName(written: string, names: ObjectNames): UseError {
  const meant = nearest(written, writableNames(names));
  const hint =
    meant === undefined ? `It takes ${Object.keys(USABLE).join(", ")}.` : `Did you mean "${meant}"?`;
  return new UseError(`--use does not know "${written}". ${hint}`);
}
