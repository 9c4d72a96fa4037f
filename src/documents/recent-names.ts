import type { ScenarioNames } from "../engine/faults/override.ts";
import type { ScenarioLibrary } from "./scenario-library.ts";

/** How long a listing of the scenarios' folders is good enough for a header that anybody may send. */
const FRESH_MS = 1_000;

/**
 * The names of the scenarios for requests that ask for one by header. A name that no file bears costs a look at
 * the listing, which is made anew once a second at most, however many ask.
 */
export class RecentNames implements ScenarioNames {
  private readonly library: ScenarioLibrary;
  private readonly now: () => number;
  private listed: readonly string[] = [];
  private readAt = Number.NEGATIVE_INFINITY;

  constructor(library: ScenarioLibrary, now = () => performance.now()) {
    this.library = library;
    this.now = now;
  }

  has(name: string): boolean {
    return this.library.hasFileOf(name) || this.names().includes(name);
  }

  names(): readonly string[] {
    if (this.now() - this.readAt < FRESH_MS) return this.listed;
    this.listed = this.library.names();
    this.readAt = this.now();
    return this.listed;
  }
}
