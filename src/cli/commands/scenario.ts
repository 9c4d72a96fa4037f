import type { SandboxClient } from "../../client/sandbox.ts";
import type { ScenarioName, ScenarioState } from "../../client/types.ts";
import { findNearest } from "../../engine/contract/text.ts";
import { command, group, OWN_FILES, sandboxCommand } from "../command.ts";
import { UsageError } from "../failure.ts";
import { formatTable } from "../process.ts";
import { createFromHarCommand } from "./fixture.ts";

const list = sandboxCommand({
  command: "list",
  describe: "List all scenarios, and show which are on",
  async run(_given, { scenarios }) {
    const { items, total } = await scenarios.list();
    const isDerived = ({ origin }: ScenarioState) => origin === "derived";
    const sortedItems = items.toSorted((a, b) => Number(isDerived(a)) - Number(isDerived(b)));
    const rows = sortedItems.map(({ active, name, origin, description, problem }) => {
      const broken = `${problem?.split("\n")[0]}${active ? "; the last valid version is on" : ""}`;
      const from = origin === "shipped" ? "built-in" : origin;
      return [active ? "on" : "", name, from, problem === undefined ? description : broken];
    });
    return { value: { items, total }, text: formatTable(["", "name", "from", "description"], rows) };
  },
});

const on = sandboxCommand({
  command: "on <name>",
  describe: "Switch a scenario on; others stay as they are",
  run: ({ name }, sandbox) => changeActive(sandbox, (active) => [...new Set([...active, name])]),
});

const off = sandboxCommand({
  command: "off <name>",
  describe: "Switch a scenario off",
  run: ({ name }, sandbox) =>
    changeActive(sandbox, (active) => {
      if (active.includes(name)) return active.filter((one) => one !== name);
      const nearest = findNearest(name, active);
      const hint = nearest === undefined ? "" : `did you mean "${nearest}"? `;
      throw new UsageError(
        `the scenario ${name} is not on; ${hint}active scenarios: ${active.join(", ") || "none"}`,
      );
    }),
});

const show = command({
  command: "show <name>",
  describe: "Print a scenario as YAML, without a server: a built-in one, or one of ./scenarios",
  examples: [["$0 scenario show slow-network > scenarios/slower.yaml", "A copy to change"]],
  async run({ name }) {
    const { showScenario } = await import("../document-files.ts");
    return showScenario(name);
  },
});

const check = command({
  command: "check <files..>",
  describe: "Check scenario files, without a server",
  options: OWN_FILES,
  examples: [["$0 scenario check 'scenarios/*.yaml'", "Every problem with its line"]],
  async run({ files, ...ownFiles }) {
    const { checkScenarioFiles } = await import("../document-files.ts");
    return checkScenarioFiles(files, ownFiles);
  },
});

export const scenarioCommand = group(
  "scenario",
  "List, switch and check failure scenarios",
  [
    list,
    on,
    off,
    show,
    check,
    createFromHarCommand("scenario", "Write a recording's latencies and error rates as a scenario"),
  ],
  ["$0 scenario on flaky-ten-percent", "One request in ten fails from now on"],
);

async function changeActive(sandbox: SandboxClient, next: (active: string[]) => string[]) {
  const active = next((await sandbox.info()).scenarios);
  await sandbox.scenarios.activate(...(active as ScenarioName[]));
  return { value: { active }, text: `Active scenarios: ${active.join(", ") || "none"}` };
}
