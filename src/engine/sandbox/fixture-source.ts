import type { Settings } from "../contract/settings.ts";
import type { Root } from "../state/root.ts";

/** Where a fixture's world comes from; the same (fixture, seed) gives the same root, by reference. */
export interface FixtureSource {
  /** @throws DocumentError when the fixture is unknown or wrong */
  load(fixture: string | object): LoadedFixture;
}

export interface LoadedFixture {
  readonly name: string;
  /**
   * With settings, what runs on the first day goes on for as long as they say (G11, G14); by default without,
   * as what is kept on disk is told apart from.
   */
  root(seed: number, settings?: Settings): Root;
  /** So many records a root has at least; found out without building one. */
  leastRecords(): number;
  /** The merged document that the roots are built from, as a saved sandbox or a bundle keeps it. */
  document(): object;
}
