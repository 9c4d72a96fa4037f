import type { DocumentError } from "../engine/documents/document-error.ts";
import type { Scenario } from "../engine/faults/scenario.ts";
import type { ScenarioLibrary } from "./scenario-library.ts";
import type { Followed } from "./watch-documents.ts";

export interface ScenarioEdits {
  onChange: (scenario: Scenario) => void;
  /** An edit that cannot be used; the last good version stays in force. */
  onProblem: (error: DocumentError) => void;
}

/** Lets edits of scenario files take effect where they are in force (interfaces 6). */
export function followScenarios(library: ScenarioLibrary, { onChange, onProblem }: ScenarioEdits): Followed {
  return {
    files: library.files,
    takeUp(file) {
      const { changed, broken } = library.refresh(file);
      for (const { problem } of broken) onProblem(problem);
      for (const { version } of changed) onChange(version!);
    },
  };
}
