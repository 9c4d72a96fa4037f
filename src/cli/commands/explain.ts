import type { CommandModule } from "yargs";
import type { ExplainInput, Explanation } from "../../client/types.ts";
import { UsageError } from "../failure.ts";
import { keyedValues, typedValue } from "../option-values.ts";
import { print, table } from "../output.ts";
import { openSandbox, type Target, targetOptions } from "../target.ts";

type Options = Target & {
  request: string;
  path: string | undefined;
  as: string | undefined;
  param: string[] | undefined;
  header: string[] | undefined;
  query: string[] | undefined;
  body: string | undefined;
};

export const explainCommand: CommandModule<object, Options> = {
  command: "explain <request> [path]",
  describe: "Say what would become of a request, and what each rule would do, without sending it",
  builder: (argv) =>
    targetOptions(argv)
      .positional("request", { type: "string", describe: "An operation id, or a method", demandOption: true })
      .positional("path", { type: "string", describe: "With a method: the path, a query included" })
      .option("as", { type: "string", requiresArg: true, describe: "Id of the user who calls" })
      .option("param", repeated("name=value in an operation's path"))
      .option("header", repeated("name=value of a header"))
      .option("query", repeated("name=value of a query parameter"))
      .option("body", { type: "string", requiresArg: true, describe: "A JSON body" })
      .example("$0 explain threads.delete --param thread_id=thread_ada --as usr_cleo", "Who may?")
      .example("$0 explain GET /v1/models --as usr_ada", "Which rule would strike?") as never,
  async handler(options) {
    const sandbox = await openSandbox(options);
    // The server knows better which operations there are, and which was meant.
    const explanation = await sandbox.faults.explain(requestOf(options) as ExplainInput);
    print(options.json, explanation, explanationText(explanation));
  },
};

function repeated(describe: string) {
  return { type: "string", array: true, requiresArg: true, describe } as const;
}

function requestOf({ request, path, as, param, header, query, body }: Options) {
  if (path !== undefined && param !== undefined)
    throw new UsageError("--param stands beside an operation id; a path holds its own parameters");
  return {
    ...(path === undefined ? { operation: request } : { method: request, path }),
    params: keyedValues("--param", param),
    principal: as,
    headers: keyedValues("--header", header),
    query: keyedValues("--query", query),
    body: body === undefined ? undefined : typedValue(body),
  };
}

function explanationText({ operation, decision, status, code, steps, rules }: Explanation): string {
  const outcome =
    decision === null
      ? "It cannot be told: a step depends on what was not given."
      : `${status === 0 ? "no answer" : status}${code === null ? "" : ` ${code}`}, decided by: ${decision}`;
  const parts = [
    `${operation ?? "no operation"}: ${outcome}`,
    "",
    table(["step", "", ""], steps.map(stepRow)),
  ];
  if (rules.length > 0) parts.push("", table(["rule", "phase", "strikes", ""], rules.map(ruleRow)));
  return parts.join("\n");
}

const stepRow = ({ step, outcome, says }: Explanation["steps"][number]) => [step, outcome, says];

const ruleRow = ({ rule, phase, strikes, why }: Explanation["rules"][number]) => [
  rule,
  phase,
  strikes ? "yes" : "no",
  why,
];
