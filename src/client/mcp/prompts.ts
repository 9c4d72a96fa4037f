import { fromJsonSchema, type McpServer } from "@modelcontextprotocol/server";

type Words = Readonly<Record<string, string | undefined>>;

interface Prompt {
  name: string;
  title: string;
  description: string;
  arguments: Readonly<Record<string, string>>;
  text: (args: Words) => string;
}

const PROMPTS: readonly Prompt[] = [
  {
    name: "reproduce_bug",
    title: "Reproduce a bug as a bundle",
    description: "From a report to a file that replays it",
    arguments: { report: "What is said to go wrong" },
    text: ({
      report = "(ask for it)",
    }) => `Reproduce this bug against Understudy, and end with a bundle that replays it.

The report: ${report}

1. create_sandbox with a frozen clock, so that the same requests give the same bytes; work there alone.
2. Bring the world into the state that the report speaks of with change_state, advance_clock and call_api, in as few steps as will do.
3. Send the request that goes wrong with call_api. list_journal says why it was answered so, explain_request what would happen to another, list_history what changed.
4. Where a failure of the service is part of it, arm_fault; where time is, advance_clock.
5. Take away every step without which it still goes wrong: rewind, and try again.
6. Tell me the requests, the answer that is wrong and the one that would be right, and hand over what make_bundle gives, as a file that \`understudy replay\` repeats.`,
  },
  {
    name: "exercise_refusals",
    title: "Exercise every refusal",
    description: "Whether an application copes with each documented error of the operations that it calls",
    arguments: {
      operation: "An operation id, or a glob of them; all that the application calls unless given",
    },
    text: ({
      operation = "(every operation that the application calls)",
    }) => `Find out whether my application copes with every documented refusal of ${operation}.

1. create_sandbox, and have the application use its base_url.
2. describe_operation for the documented codes; coverage says which have been seen.
3. For each that is missing: arm_fault with match {operation}, effect {error: CODE} and times 1, have the application make the call, and look at what it shows or does.
4. verify_requests for how often it tried: a 429 or 503 may be tried again, a 403 or 422 must not be.
5. Repeat with phase after for each operation that changes something: the answer is lost although the change was made.
6. End with a table: code, what the application did, what it should do; and with coverage.`,
  },
  {
    name: "harden_receiver",
    title: "Harden a webhook receiver",
    description: "From a receiver's address to what it should do better",
    arguments: { url: "The receiver's address" },
    text: ({ url = "(ask for it)" }) => `Harden my webhook receiver at ${url}.

1. create_sandbox with a frozen clock; register the receiver with call_api (describe_operation webhooks.create), and keep the secret of the answer.
2. trigger_event for each event that it should understand; list_deliveries and list_pending say how its answers were taken.
3. The same event twice: is it handled once? Two events out of order: does the later one win?
4. Have it answer slowly, with 500 and not at all; advance_clock by {next: true} through the retries, and see that it recovers.
5. Read its code: is the signature made of the raw body, compared in constant time, refused when it is missing, stale or of another secret?
6. Let \`understudy receiver-test ${url} --secret SECRET\` grade it, and end with what to change, the worst first.`,
  },
];

/** interfaces 13. */
export function addPrompts(server: McpServer): void {
  for (const { name, title, description, arguments: named, text } of PROMPTS) {
    const properties = Object.fromEntries(
      Object.entries(named).map(([word, said]) => [word, { type: "string", description: said }]),
    );
    const argsSchema = fromJsonSchema<Words>({ type: "object", properties, additionalProperties: false });
    server.registerPrompt(name, { title, description, argsSchema }, (args: Words) => ({
      messages: [{ role: "user" as const, content: { type: "text" as const, text: text(args) } }],
    }));
  }
}
