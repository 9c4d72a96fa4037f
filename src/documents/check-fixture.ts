import type { Resource } from "../engine/contract/resource.ts";
import { DocumentError } from "../engine/documents/document-error.ts";
import { FixtureLibrary } from "./fixture-library.ts";

export interface CheckPlaces {
  resources: readonly Resource[];
  cwd?: string;
  folders?: readonly string[];
}

/**
 * What `understudy fixture check` says about one file, named or given by its path: undefined when it can be
 * used, else every problem with its file, line and column.
 */
export function checkFixture(fixture: string, places: CheckPlaces): DocumentError | undefined {
  try {
    new FixtureLibrary({ ...places, trustBuild: false }).load(fixture);
    return undefined;
  } catch (error) {
    if (error instanceof DocumentError) return error;
    throw error;
  }
}
