import type { DocumentError } from "../engine/documents/document-error.ts";
import type { Scenario } from "../engine/faults/scenario.ts";
import type { LoadedFixture } from "../engine/sandbox/sandbox-value.ts";
import type { FixtureLibrary } from "./fixture-library.ts";
import type { ScenarioLibrary } from "./scenario-library.ts";
import type { WatchedDocuments } from "./watch-documents.ts";

/** The part of a sandbox that a changed fixture affects. */
interface FixtureUser {
  readonly name: string;
  readonly source: LoadedFixture;
  /** Switches to the current version unless a request has changed something; returns whether it switched. */
  reloadFixture(): boolean;
}

interface FixtureEdits {
  sandboxes: () => Iterable<FixtureUser>;
  /** Gets a sentence for the log: which sandboxes start from the new version at once, and which at their next reset. */
  onChange: (message: string) => void;
  /** An edit that cannot be used; the last good version stays active. */
  onProblem: (error: DocumentError, fixture: string) => void;
}

/** Applies edits of fixture files, and of files that they extend, to the sandboxes that use them (interfaces.md 6). */
export function followFixtures(library: FixtureLibrary, edits: FixtureEdits): WatchedDocuments {
  return {
    files: library.files,
    applyEdit(file) {
      const { changed, broken } = library.files.refresh(file);
      for (const { document, problem } of broken)
        edits.onProblem(problem, library.findRequestedName(document));
      for (const document of changed) {
        const users = [...edits.sandboxes()].filter(
          ({ source }) => library.findDocument(source) === document,
        );
        edits.onChange(reloadSandboxes(library.findRequestedName(document), users));
      }
    },
  };
}

/** Switches sandboxes to the new version, and describes the edit. */
function reloadSandboxes(fixture: string, sandboxes: readonly FixtureUser[]): string {
  const renewed: string[] = [];
  const waiting: string[] = [];
  for (const sandbox of sandboxes) (sandbox.reloadFixture() ? renewed : waiting).push(sandbox.name);
  const parts = [`fixture ${fixture} was edited`];
  if (renewed.length > 0) parts.push(`applied to ${listNames(renewed)}`);
  const when = renewed.length > 0 ? "at the next reset also" : "applied at the next reset";
  if (waiting.length > 0) parts.push(`${when} to ${listNames(waiting)}, because of changes since the start`);
  if (parts.length === 1) parts.push("applied to new sandboxes");
  return parts.join("; ");
}

function listNames(names: readonly string[]): string {
  const firstNames = names.slice(0, 5).join(", ");
  return names.length > 5 ? `${firstNames} and ${names.length - 5} more` : firstNames;
}

interface ScenarioEdits {
  onChange: (scenario: Scenario) => void;
  /** An edit that cannot be used; the last good version stays active. */
  onProblem: (error: DocumentError) => void;
}

/** Applies edits of scenario files to the sandboxes in which they are active (interfaces.md 6). */
export function followScenarios(
  library: ScenarioLibrary,
  { onChange, onProblem }: ScenarioEdits,
): WatchedDocuments {
  const { files } = library;
  return {
    files: {
      listFilesInUse: () => new Set([...files.listFilesInUse(), ...library.listNamesakes()]),
      isFileInUse: (file) => files.isFileInUse(file) || library.mayBeActive(file),
      hasFileChanged: (file) => files.hasFileChanged(file),
      onFilesInUseChange: (listener) => files.onFilesInUseChange(listener),
    },
    applyEdit(file) {
      const { changed, broken } = library.refresh(file);
      for (const { problem } of broken) onProblem(problem);
      for (const { value } of changed) onChange(value!);
    },
  };
}
