import { basename, extname } from "node:path";
import { fixtureText } from "../documents/generate-fixture.ts";
import { pluralize } from "../engine/contract/text.ts";
import { RESOURCES } from "../engine/resources/index.ts";
import { HarError } from "../tools/har/read-har.ts";
import { fixtureFromHar } from "../tools/traffic/fixture-from-har.ts";
import { scenarioFromHar } from "../tools/traffic/scenario-from-har.ts";
import { Contract } from "../tools/verify/contract.ts";
import { TargetUnusable } from "../tools/verify/run-verify.ts";
import { CheckFailed, UsageError } from "./failure.ts";
import { writeNewFile } from "./new-files.ts";
import { print } from "./output.ts";

export interface FromHar {
  file: string;
  out: string | undefined;
  force: boolean;
  json: boolean;
}

const MAX_DROPPED_SHOWN = 5;

/** @throws UsageError, CheckFailed, DocumentError */
export async function writeFixture({ file, out, force, json }: FromHar): Promise<void> {
  const contract = new Contract(RESOURCES);
  const { fixture, base, counts, dropped, key } = await readable(() =>
    fixtureFromHar({ file, contract, resources: RESOURCES }),
  );
  const text = await fixtureText(fixture, `Seen in ${basename(file)}, which recorded ${base}.`);
  if (out === undefined) return print(json, fixture, text.trimEnd());
  writeNewFile(out, text, { force });
  const seen = Object.entries(counts).map(([list, count]) => `${count} ${list}`);
  const shown = dropped.slice(0, MAX_DROPPED_SHOWN).join(", ");
  const left =
    dropped.length === 0
      ? []
      : [
          `${dropped.length === 1 ? "1 value was" : `${dropped.length} values were`} left out, such as ${shown}.`,
        ];
  const lines = [
    `Wrote ${out}: ${seen.join(", ")}.`,
    ...left,
    `Start it with --fixture ${out} --clock frozen@${fixture["epoch"]}; the key is ${key}.`,
  ];
  print(json, { file: out, counts, dropped, key, epoch: fixture["epoch"] }, lines.join("\n"));
}

/** @throws UsageError, CheckFailed */
export async function writeScenario({ file, out, force, json }: FromHar): Promise<void> {
  const name = nameOf(out ?? file);
  const contract = new Contract(RESOURCES);
  const scenario = await readable(() => scenarioFromHar({ file, contract, name }));
  const { stringify } = await import("yaml");
  const text = stringify(scenario, { lineWidth: 100 });
  if (out === undefined) return print(json, scenario, text.trimEnd());
  writeNewFile(out, text, { force });
  print(
    json,
    { file: out, name, rules: scenario.rules.length },
    `Wrote ${out}: ${pluralize(scenario.rules.length, "rule")}.`,
  );
}

/** A scenario is called as its file is. */
function nameOf(file: string): string {
  const plain = basename(file, extname(file))
    .replaceAll(/[^A-Za-z0-9._-]+/g, "-")
    .replace(/^[^A-Za-z0-9]+/, "");
  return plain.slice(0, 80) || "recorded";
}

/** @throws UsageError for a file that is no archive; CheckFailed where nothing of it is of this API */
async function readable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof HarError) throw new UsageError(error.message);
    if (error instanceof TargetUnusable) throw new CheckFailed(error.message);
    throw error;
  }
}
