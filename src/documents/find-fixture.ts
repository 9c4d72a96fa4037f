import { existsSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { nearest } from "../engine/documents/nearest.ts";
import { filesCalled, filesIn, isPath, nameOfFile, showFile } from "./find-files.ts";
import { SHIPPED_FIXTURES } from "./shipped-files.ts";

export interface FixturePlaces {
  /** Where fixtures are found by name, the first that has one wins. */
  folders: readonly string[];
  /** What relative paths start from. */
  cwd: string;
}

export interface NotFound {
  message: string;
  hint?: string | undefined;
}

/** Where names are looked up: the user's own folder of fixtures, where there is one, then the shipped ones. */
export function fixtureFolders(cwd = process.cwd()): string[] {
  const own = join(cwd, "fixtures");
  return [...(existsSync(own) ? [own] : []), SHIPPED_FIXTURES.folder];
}

/**
 * The file of a fixture named on its own or by another's `extends`. A file never finds itself by name, so
 * that a user's reference.yaml can extend the shipped one.
 */
export function findFixture(fixture: string, places: FixturePlaces, from?: string): string | NotFound {
  const start = from === undefined ? places.cwd : dirname(from);
  if (isPath(fixture)) {
    const file = resolve(start, fixture);
    return existsSync(file)
      ? realpathSync(file)
      : { message: `there is no file ${showFile(file, places.cwd)}` };
  }
  const folders = from === undefined ? places.folders : [start, ...places.folders];
  for (const file of filesCalled(fixture, folders)) if (file !== from) return file;
  return unknownName(fixture, fixtureNames(folders));
}

/** The names of the fixtures in these folders, each once. */
export function fixtureNames(folders: readonly string[]): string[] {
  return [...new Set(folders.flatMap(filesIn).map(nameOfFile))].sort();
}

function unknownName(fixture: string, names: readonly string[]): NotFound {
  const shown = names.slice(0, 12).join(", ") + (names.length > 12 ? ` and ${names.length - 12} more` : "");
  const known = names.length === 0 ? "none is known by name" : `known by name: ${shown}`;
  return {
    message: `there is no fixture ${JSON.stringify(fixture.slice(0, 80))}; ${known}; the command line takes a file by its path, such as ./my.yaml`,
    hint: nearest(fixture, names),
  };
}
