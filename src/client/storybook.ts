import type { BrowserEngine } from "../browser.ts";
import { refuseSynchronousRequests } from "./delay-requests.ts";
import { requireKnownOptions } from "./options.ts";
import { openPageEngine, toPageSandbox } from "./page-engine.ts";
import type { PageSandbox, PageStart } from "./page-start.ts";
import { DEFAULT_PATHS, PageWorker } from "./page-worker.ts";
import type { RuleDefinition, ScenarioName } from "./types.ts";
import { toPaths } from "./worker-messages.ts";

/** A story's `parameters.understudy`: how its sandbox begins. */
export interface StoryParameters extends Omit<PageStart, "scenarios" | "persist"> {
  scenario?: ScenarioName | readonly ScenarioName[];
  faults?: readonly RuleDefinition[];
  /** The user whose API key the story's requests are sent with, whatever their own credentials. */
  user?: string;
}

/** The type lets the compiler report a parameter that is missing here. */
const PARAMETERS: Readonly<Record<keyof StoryParameters, true>> = {
  fixture: true,
  seed: true,
  clock: true,
  settings: true,
  onDelivery: true,
  scenario: true,
  faults: true,
  user: true,
};

export interface StorybookOptions {
  /** As `start` of `understudy-sandbox/browser` has them; the worker's file is beside `iframe.html` unless given. */
  paths?: readonly string[];
  worker?: string;
}

/** The parts of Storybook's story context that are used here. */
interface StoryContext {
  parameters: Record<string, unknown>;
  viewMode?: string;
}

/** For `.storybook/preview.js`: spread it into the preview, whose own `loaders` must be added to these. */
export interface StorybookPreview {
  parameters: { docs: { story: { inline: boolean } } };
  loaders: ((context: StoryContext) => Promise<{ understudy: PageSandbox }>)[];
}

/** A sandbox of its own for each story of Storybook (interfaces.md 17), in `loaded.understudy`. */
export function understudy(options: StorybookOptions = {}): StorybookPreview {
  requireKnownOptions("understudy", options, ["paths", "worker"]);
  const { paths = DEFAULT_PATHS, worker = "./understudy-worker.js" } = options;
  let page: PageWorker | undefined;
  let engine: BrowserEngine | undefined;
  const load = async ({ parameters, viewMode }: StoryContext) => {
    if (viewMode === "docs")
      throw new Error(
        "Stories within a docs page share its window, so they would share a sandbox; leave parameters.docs.story.inline false",
      );
    const story: StoryParameters = parameters["understudy"] ?? {};
    requireKnownOptions("parameters.understudy", story, Object.keys(PARAMETERS));
    const { scenario = [], faults = [], user, ...world } = story;
    const scenarios = [scenario].flat() as ScenarioName[];
    const next = await openPageEngine({ ...world, scenarios });
    await engine?.close();
    engine = next;
    if (page === undefined) {
      page = await PageWorker.connect(next, { paths, worker });
      refuseSynchronousRequests(toPaths(paths));
    } else page.engine = next;
    const sandbox = await toPageSandbox(next, page);
    for (const rule of faults) await sandbox.faults.add(rule);
    sandbox.actAs(user);
    return { understudy: sandbox };
  };
  // A user may choose the next story while the first one loads.
  let loading: Promise<unknown> = Promise.resolve();
  const begin = (context: StoryContext) => {
    const loaded = loading.then(() => load(context));
    loading = loaded.catch(() => {});
    return loaded;
  };
  // `inline: false` gives each story of a docs page its own frame, and so its own sandbox.
  return { parameters: { docs: { story: { inline: false } } }, loaders: [begin] };
}
