import { readFileSync } from "node:fs";
import { nearest } from "../../engine/contract/text.ts";
import { readDocument } from "../../engine/documents/read-document.ts";
import type { ObjectNames } from "./contract.ts";

/** What `--use` takes, and what it stands for. */
export const USABLE: Readonly<Record<string, string>> = {
  organization_id: "the organization to read; by default the one that the key acts in",
  session_id: "a meeting session that has ended",
  transcription_id: "a completed transcription",
  pending_transcription_id: "a transcription that is not completed",
  collection_id: "a music collection that the key's user owns",
  assistant_id: "an assistant with a history",
  store_id: "a knowledge store",
  file_id: "a file in that store",
  job_id: "a connector job",
  webhook_id: "a webhook",
  slug: "the slug of an active share link",
  foreign_organization_id: "an organization that the key's user is no member of",
  foreign_session_id: "a meeting session of such an organization",
  other_organization_id: "another organization that the key's user is a member of",
  department_id: "a department that --write may move to the top and back",
  parent_department_id: "the parent that it has now",
  webhook_url: "a receiver that --write may have called",
  scratch_store_id: "a store that --write may put a small file into, for good",
  scratch_connection_id: "a connection of which --write may start a sync and cancel it",
  model: "the key of a model that --write may ask for one short, billed answer",
  provider: "the image provider that extends by pixels (provider_a), which --write may ask once",
};

/** The usable name for a written one; a model is named by its key, which no parameter names. */
export function usableName(names: ObjectNames, written: string): string | undefined {
  const name = written === "models" ? "model" : names.parameter(written);
  return Object.hasOwn(USABLE, name) ? name : undefined;
}

export function writableNames(names: ObjectNames): string[] {
  const others = [...names.others].filter((written) => usableName(names, written) !== undefined);
  return [...Object.keys(USABLE), ...others, "models"];
}

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
    if (name === undefined) for (const [key, ids] of readPairs(option)) add(key, ids);
    // A URL may hold commas; ids do not.
    else add(name, name === "webhook_url" ? [value!] : value!.split(","));
  }
  return uses;
}

function readPairs(file: string): [string, string[]][] {
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
