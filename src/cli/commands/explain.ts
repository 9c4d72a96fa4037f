import type { ExplainInput, Explanation } from "../../client/types.ts";
import { readKeyedValues, sandboxCommand, text, texts } from "../command.ts";
import { runOrThrowUsageError, UsageError } from "../failure.ts";
import { formatTable } from "../process.ts";

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

export const explainCommand = sandboxCommand({
  command: "explain <request> [path]",
  describe: "Explain how a request would be answered, and what each rule would do, without sending it",
  args: { request: "An operation id, or a method", path: "With a method: the path, with its query" },
  options: {
    as: text("Id of the user who calls"),
    param: texts("With an operation id: name=value of a parameter in its path"),
    header: texts("name=value of a header"),
    query: texts("name=value of a query parameter"),
    body: text("A JSON body"),
  },
  examples: [
    ["$0 explain threads.delete --param thread_id=thread_ada --as usr_cleo", "Is it allowed?"],
    ["$0 explain GET /v1/models --as usr_ada", "Which rule would trigger?"],
  ],
  check({ param, ...positionals }) {
    const { request, path } = splitRequest(positionals);
    if (path === undefined && METHODS.includes(request))
      throw new UsageError(
        `explain ${request} needs a path too, such as: understudy explain ${request} /v1/models`,
      );
    if (path !== undefined && param !== undefined)
      throw new UsageError("--param goes with an operation id; a path contains its own parameters");
  },
  toOptionName(inputField) {
    if (inputField === "principal") return "--as";
    return inputField.startsWith("params.") ? inputField.replace("params.", "--param ") : undefined;
  },
  async run({ as, param, header, query, body, ...positionals }, sandbox) {
    const { request, path } = splitRequest(positionals);
    // The server refuses an unknown operation id, and suggests the nearest.
    const explanation = await sandbox.faults.explain({
      ...(path === undefined ? { operation: request } : { method: request, path }),
      params: readKeyedValues("--param", param),
      principal: as,
      headers: readKeyedValues("--header", header),
      query: readKeyedValues("--query", query),
      body:
        body === undefined ? undefined : runOrThrowUsageError("--body is not JSON", () => JSON.parse(body)),
    } as ExplainInput);
    return { value: explanation, text: formatExplanation(explanation) };
  },
});

/** Also splits `"GET /v1/models"`, copied as one word. */
function splitRequest(positionals: { request: string; path?: string }) {
  const [request = "", ...rest] = positionals.request.trim().split(/\s+/);
  return { request, path: rest.length > 0 ? rest.join(" ") : positionals.path };
}

function formatExplanation({ operation, decision, status, code, steps, rules }: Explanation): string {
  const outcome =
    decision === null
      ? "The outcome cannot be known: a step depends on information that was not given."
      : `${status === 0 ? "no answer" : status}${code === null ? "" : ` ${code}`}, decided by: ${decision}`;
  const stepRows = steps.map(({ step, outcome, says }) => [step, outcome, says]);
  const ruleRows = rules.map(({ rule, phase, triggers, why }) => [rule, phase, triggers ? "yes" : "no", why]);
  return [
    `${operation ?? "no operation"}: ${outcome}`,
    "",
    formatTable(["step", "", ""], stepRows),
    ...(rules.length > 0 ? ["", formatTable(["rule", "phase", "triggers", ""], ruleRows)] : []),
  ].join("\n");
}
