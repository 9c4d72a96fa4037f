import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import { ScenarioLibrary } from "../../../documents/scenario-library.ts";
import { SHIPPED_SCENARIOS, ShippedFiles } from "../../../documents/shipped-files.ts";
import { readDocument } from "../../documents/read-document.ts";
import { API } from "../../resources/index.ts";

const files = readdirSync(SHIPPED_SCENARIOS.folder)
  .filter((name) => name.endsWith(".yaml"))
  .map((name) => join(SHIPPED_SCENARIOS.folder, name));
/** `npm test` builds first; without a build there is nothing to compare. */
const isBuilt = existsSync(join(SHIPPED_SCENARIOS.folder, "..", "dist", "scenarios.json"));

describe("shipped scenarios as the build stores them", () => {
  it.runIf(isBuilt)("interfaces 6 say what their files say", () => {
    let compared = 0;
    for (const file of files) {
      const text = readFileSync(file, "utf8");
      const compiled = SHIPPED_SCENARIOS.compiled(file, text);
      if (compiled === undefined) continue;
      expect(compiled).toEqual(readDocument(text, { file }).value);
      compared += 1;
    }
    // All of them, unless somebody has edited one since the build.
    expect(compared).toBeGreaterThan(files.length * 0.9);
  });

  it("interfaces 6 list the same with and without a build, and nothing is wrong with any", () => {
    const plain = (trustBuild: boolean) =>
      new ScenarioLibrary({ api: API, trustBuild })
        .list()
        .map(({ scenario, ...listed }) => ({ ...listed, scenario: JSON.parse(JSON.stringify(scenario)) }));
    const checked = plain(false);
    expect(checked.filter(({ problem }) => problem !== undefined)).toEqual([]);
    expect(plain(true)).toEqual(checked);
  });

  it("interfaces 6 an edited file is read itself, whatever the build has stored", () => {
    const file = join(SHIPPED_SCENARIOS.folder, "slow-network.yaml");
    expect(SHIPPED_SCENARIOS.compiled(file, `${readFileSync(file, "utf8")}# edited\n`)).toBeUndefined();
    const folder = mkdtempSync(join(tmpdir(), "scenarios-test-"));
    try {
      writeFileSync(
        join(folder, "slow-network.yaml"),
        "description: mine\nrules: [{ effect: { delay: 1ms } }]\n",
      );
      const mine = new ScenarioLibrary({ api: API, folders: [folder, SHIPPED_SCENARIOS.folder] });
      expect(mine.get("slow-network").description).toBe("mine");
      expect(mine.list().find(({ name }) => name === "slow-network")).toMatchObject({ shipped: false });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it.runIf(isBuilt)("interfaces 6 stand for their folder where there is none, as in the package", () => {
    const root = mkdtempSync(join(tmpdir(), "scenarios-test-"));
    try {
      cpSync(
        join(SHIPPED_SCENARIOS.folder, "..", "dist", "scenarios.json"),
        join(root, "dist/scenarios.json"),
      );
      const packed = new ShippedFiles("scenarios", root);
      expect(packed.isPacked).toBe(true);
      expect(packed.files()).toEqual(files.map((file) => join(root, "scenarios", basename(file))));
      const file = join(root, "scenarios", "slow-network.yaml");
      expect(packed.textOf(file)).toContain("name: slow-network");
      expect(packed.textOf(join(root, "slow-network.yaml"))).toBeUndefined();
      expect(packed.textOf(join(root, "scenarios", "constructor"))).toBeUndefined();
      expect(SHIPPED_SCENARIOS.isPacked).toBe(false);
      expect(SHIPPED_SCENARIOS.textOf(files[0]!)).toBeUndefined();
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  });

  it("interfaces 6 a file of the same name elsewhere is not taken for the shipped one", () => {
    const text = readFileSync(join(SHIPPED_SCENARIOS.folder, "slow-network.yaml"), "utf8");
    expect(SHIPPED_SCENARIOS.compiled("/somewhere/slow-network.yaml", text)).toBeUndefined();
  });
});
