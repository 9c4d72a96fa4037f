import type { DocumentError } from "../engine/documents/document-error.ts";
import type { Scenario } from "../engine/faults/scenario.ts";
import type { Fixture } from "../engine/fixtures/fixture.ts";
import type { LoadedFixture } from "../engine/sandbox/sandbox-value.ts";
import type { Document } from "./document-library.ts";
import type { FixtureLibrary } from "./fixture-library.ts";
import type { ScenarioLibrary } from "./scenario-library.ts";
import type { WatchedDocuments } from "./watch-documents.ts";

/** The part of a sandbox that a changed fixture affects. */
export interface FixtureUser {
  readonly name: string;
  readonly source: LoadedFixture;
  /** Switches to the current version unless a request has changed something; returns whether it did. */
  reloadFixture(): boolean;
}

export interface FixtureChange {
  fixture: string;
  /** The file that was edited; it may be one that the fixture extends. */
  file: string;
  /** Sandboxes that start from the new version as of now. */
  renewed: string[];
  /** Sandboxes with changes of their own, which switch at their next reset. */
  waiting: string[];
  /** The same in one sentence, for the log. */
  message: string;
}

export interface FixtureEdits {
  sandboxes: () => Iterable<FixtureUser>;
  onChange: (change: FixtureChange) => void;
  /** An edit that cannot be used; the last good version stays active. */
  onProblem: (error: DocumentError, fixture: string) => void;
}

/** Applies edits of fixture files, and of files that they extend, to the sandboxes that use them (interfaces 6). */
export function followFixtures(library: FixtureLibrary, edits: FixtureEdits): WatchedDocuments {
  return {
    files: library.files,
    applyEdit(file) {
      const { changed, broken } = library.files.refresh(file);
      for (const { document, problem } of broken)
        edits.onProblem(problem, library.findRequestedName(document));
      for (const document of changed) {
        const fixture = library.findRequestedName(document);
        const affected = reloadSandboxes(library, document, edits.sandboxes());
        edits.onChange({ fixture, file, ...affected, message: describeEdit(fixture, affected) });
      }
    },
  };
}

type AffectedSandboxes = Pick<FixtureChange, "renewed" | "waiting">;

function reloadSandboxes(
  library: FixtureLibrary,
  document: Document<Fixture>,
  sandboxes: Iterable<FixtureUser>,
): AffectedSandboxes {
  const renewed: string[] = [];
  const waiting: string[] = [];
  for (const sandbox of sandboxes) {
    if (library.findDocument(sandbox.source) !== document) continue;
    (sandbox.reloadFixture() ? renewed : waiting).push(sandbox.name);
  }
  return { renewed, waiting };
}

function describeEdit(fixture: string, { renewed, waiting }: AffectedSandboxes): string {
  const parts = [`fixture ${fixture} was edited`];
  if (renewed.length > 0) parts.push(`applied to ${listNames(renewed)}`);
  if (waiting.length > 0)
    parts.push(`at the next reset also to ${listNames(waiting)}, because of changes since the start`);
  if (parts.length === 1) parts.push("applied to new sandboxes");
  return parts.join("; ");
}

function listNames(names: readonly string[]): string {
  const firstNames = names.slice(0, 5).join(", ");
  return names.length > 5 ? `${firstNames} and ${names.length - 5} more` : firstNames;
}

export interface ScenarioEdits {
  onChange: (scenario: Scenario) => void;
  /** An edit that cannot be used; the last good version stays active. */
  onProblem: (error: DocumentError) => void;
}

/** Applies edits of scenario files to the sandboxes in which they are active (interfaces 6). */
export function followScenarios(
  library: ScenarioLibrary,
  { onChange, onProblem }: ScenarioEdits,
): WatchedDocuments {
  return {
    files: library.files,
    applyEdit(file) {
      const { changed, broken } = library.refresh(file);
      for (const { problem } of broken) onProblem(problem);
      for (const { version } of changed) onChange(version!);
    },
  };
}
