import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { API } from "../engine/resources/index.ts";
import { CachedNames, listScenarioFolders, ScenarioLibrary } from "./scenario-library.ts";

describe("a scenario's name", () => {
  let folder: string;
  let library: ScenarioLibrary;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "scenarios-test-"));
    library = new ScenarioLibrary({ api: API, folders: listScenarioFolders(folder) });
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const write = (file: string, text: string) => writeFileSync(join(folder, file), text);

  it("a user's file hides the shipped scenario of its name [interfaces 2]", () => {
    write("slow-network.yaml", "description: mine\nrules: [{ effect: { delay: 1ms } }]\n");
    expect(library.get("slow-network").description).toBe("mine");
    expect(library.list().filter(({ name }) => name === "slow-network")).toMatchObject([{ origin: "own" }]);
  });

  it("a user's scenario hides the shipped one of its name, however its file is called [interfaces 2]", () => {
    write("mine.yaml", "name: slow-network\ndescription: mine\nrules: [{ effect: { delay: 1ms } }]\n");
    expect(library.get("slow-network").description).toBe("mine");
  });

  it("a user's file that has the name of its scenario precedes another one, also in the list [interfaces 2]", () => {
    write("a.yaml", "name: b\ndescription: other\nrules: [{ effect: { delay: 1ms } }]\n");
    write("b.yaml", "description: mine\nrules: [{ effect: { delay: 1ms } }]\n");
    expect(library.get("b").description).toBe("mine");
    expect(library.list().find(({ name }) => name === "b")?.scenario?.description).toBe("mine");
  });

  it("a user's scenario hides the derived one of its name, however its file is called [interfaces 2]", () => {
    const name = "departments-reparent-cycle";
    expect(library.list().find((one) => one.name === name)).toMatchObject({
      origin: "derived",
      file: `built-in/${name}.yaml`,
      scenario: { file: undefined },
    });
    write("mine.yaml", `name: ${name}\nrules: [{ effect: { delay: 1ms } }]\n`);
    expect(library.get(name).rules[0]!.effect).toEqual({ delay: { fixed_ms: 1 } });
    expect(library.list().filter((one) => one.name === name)).toMatchObject([{ origin: "own" }]);
    expect(library.listNames().filter((one) => one === name)).toHaveLength(1);
  });

  it("an unknown name is refused with the nearest one [interfaces 6]", () => {
    expect(() => library.get("departments-reparent-cycel")).toThrow(
      expect.objectContaining({ hint: "departments-reparent-cycle" }),
    );
  });
});

/** A library whose folders contain files of these names; each file in `files` has the name of its scenario. */
function createCachedNames(names: string[], files: string[] = []) {
  const counted = { listings: 0, at: 0 };
  const library = {
    listNames: () => {
      counted.listings += 1;
      return [...names];
    },
    hasWithoutListing: (name: string) => files.includes(name),
  };
  return { counted, recent: new CachedNames(library, () => counted.at) };
}

describe("a scenario's name in a request", () => {
  it("is looked up at most once a second if it is unknown, however many requests use it [interfaces 3]", () => {
    const { counted, recent } = createCachedNames(["outage"]);
    for (let i = 0; i < 1000; i++) expect(recent.has(`nothing-${i}`)).toBe(false);
    expect(counted.listings).toBe(1);
    counted.at += 1000;
    expect(recent.has("nothing")).toBe(false);
    expect(counted.listings).toBe(2);
  });

  it("is known at once if its file has that name, otherwise within a second [interfaces 3]", () => {
    const names = ["outage"];
    const files: string[] = [];
    const { counted, recent } = createCachedNames(names, files);
    expect(recent.has("outage")).toBe(true);
    files.push("new");
    names.push("renamed");
    expect(recent.has("new")).toBe(true);
    expect(recent.has("renamed")).toBe(false);
    counted.at += 1000;
    expect(recent.has("renamed")).toBe(true);
  });
});
