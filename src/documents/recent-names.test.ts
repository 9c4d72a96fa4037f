import { describe, expect, it } from "vitest";
import { RecentNames } from "./recent-names.ts";
import type { ScenarioLibrary } from "./scenario-library.ts";

/** A library whose folders hold these names; `files` are called like their scenarios. */
function stand(names: string[], files: string[] = []) {
  const counted = { listings: 0, at: 0 };
  const library = {
    names: () => {
      counted.listings += 1;
      return [...names];
    },
    hasFileOf: (name: string) => files.includes(name),
  } as unknown as ScenarioLibrary;
  return { counted, recent: new RecentNames(library, () => counted.at) };
}

describe("the names that a request may ask for", () => {
  it("interfaces 3 a name that nobody knows costs one listing a second, however many ask", () => {
    const { counted, recent } = stand(["outage"]);
    for (let i = 0; i < 1000; i++) expect(recent.has(`nothing-${i}`)).toBe(false);
    expect(counted.listings).toBe(1);
    counted.at += 1000;
    expect(recent.has("nothing")).toBe(false);
    expect(counted.listings).toBe(2);
  });

  it("interfaces 3 a file that is called like its scenario is known at once, another within a second", () => {
    const names = ["outage"];
    const files: string[] = [];
    const { counted, recent } = stand(names, files);
    expect(recent.has("outage")).toBe(true);
    files.push("new");
    names.push("renamed");
    expect(recent.has("new")).toBe(true);
    expect(recent.has("renamed")).toBe(false);
    counted.at += 1000;
    expect(recent.has("renamed")).toBe(true);
  });
});
