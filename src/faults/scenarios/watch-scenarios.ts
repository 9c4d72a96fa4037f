import { dirname } from "node:path";
import { DocumentError } from "../../documents/document-error.ts";
import type { Scenario } from "./scenario.ts";
import type { ScenarioChange, ScenarioLibrary } from "./scenario-library.ts";

/** Editors write in several steps; a file is read once it has been quiet for this long, in milliseconds. */
const QUIET = 60;

export interface ScenarioWatchOptions {
  onChange: (scenario: Scenario) => void;
  /** An edit that cannot be used; the last good version stays in force (interfaces 6). */
  onProblem: (error: DocumentError) => void;
}

export interface ScenarioWatch {
  /** Resolves once every file in use is watched. */
  ready(): Promise<void>;
  close(): Promise<void>;
}

/** Lets edits of scenario files take effect where they are in use. Nothing is watched before one is. */
export function watchScenarios(library: ScenarioLibrary, options: ScenarioWatchOptions): ScenarioWatch {
  const followed = new Set<string>();
  const timers = new Map<string, NodeJS.Timeout>();
  let closed = false;
  let watching: ReturnType<typeof open> | undefined;

  const soon = (file: string): void => {
    if (!library.filesInUse().has(file)) return;
    clearTimeout(timers.get(file));
    timers.set(
      file,
      setTimeout(() => {
        timers.delete(file);
        const change = refreshed(library, file);
        if (change?.problem !== undefined) options.onProblem(change.problem);
        else if (change?.scenario !== undefined) options.onChange(change.scenario);
      }, QUIET),
    );
  };
  const follow = (): void => {
    // Folders too, because editors replace a file as often as they write into it.
    const paths = [...library.filesInUse()].flatMap((file) => [file, dirname(file)]);
    const more = [...new Set(paths)].filter((path) => !followed.has(path));
    if (closed || more.length === 0) return;
    for (const path of more) followed.add(path);
    watching =
      watching === undefined ? open(library, soon, more) : watching.then((watcher) => watcher.add(more));
  };
  const stop = library.onUse(follow);
  follow();
  return {
    async ready() {
      await watching;
    },
    async close() {
      closed = true;
      stop();
      for (const timer of timers.values()) clearTimeout(timer);
      await (await watching)?.close();
    },
  };
}

/** Whatever somebody types into a file, the server goes on with what it had. */
function refreshed(library: ScenarioLibrary, file: string): ScenarioChange | undefined {
  try {
    return library.refresh(file);
  } catch (error) {
    const message = `it cannot be read: ${(error as Error).message}`;
    const problem = new DocumentError([{ file, line: 0, column: 0, field: "", message }]);
    return { scenario: undefined, problem };
  }
}

async function open(library: ScenarioLibrary, soon: (file: string) => void, paths: readonly string[]) {
  // Loaded here, since a server without scenarios must not pay for it.
  const { watch } = await import("chokidar");
  const watcher = watch([...paths], {
    depth: 0,
    ignoreInitial: true,
    ignored: (path, stats) => stats?.isFile() === true && !library.filesInUse().has(path),
  });
  for (const event of ["add", "change", "unlink"] as const) watcher.on(event, soon);
  await new Promise<void>((resolve) => watcher.once("ready", resolve));
  return watcher;
}
