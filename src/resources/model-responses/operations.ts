import Type, { type Static } from "typebox";
import { invalidInput } from "../../contract/errors.ts";
import { operation, TokenReply } from "../../contract/operation.ts";
import type { Transaction } from "../../state/transaction.ts";
import { passageInFile } from "../files/passage-in-file.ts";
import { models } from "../models/schema.ts";
import { recordSpending } from "../usage/record-spending.ts";
import { requireFiles } from "./attached-files.ts";
import { composeReply } from "./compose-reply.ts";
import { bestQuote, type Quote } from "./passages.ts";
import { costOf, filesOf, matches, questionOf, textsOf, tokensOf } from "./rules.ts";
import { FILES_PER_MESSAGE, InputMessage, ModelResponse, replyRules } from "./schema.ts";

const ModelRequest = Type.Object({
  model: Type.String({ minLength: 1, examples: ["atlas-large"] }),
  inputs: Type.Array(InputMessage, { minItems: 1 }),
});

const OF_ANSWERS = ["id", "object", "created_at", "model", "usage", "inputs", "output/*/type"];
const ASSUMED = {
  status: "G20",
  envelope: "G05",
  fields: Object.fromEntries(
    [...OF_ANSWERS, "output/*/role", "output/*/content/*/type"].map((name) => [`/${name}`, "G20"]),
  ),
};

export const createModelResponse = operation({
  id: "model_responses.create",
  section: "4.19",
  assumptions: ["G05", "G07", "G20", "G33"],
  assumed: ASSUMED,
  method: "POST",
  path: "/v1/model/response",
  summary: "Create a model response",
  description:
    "Billable. The text comes from the sandbox's reply rules, else from its seed, quoting an attached file where there is one.",
  body: { kind: "json", schema: ModelRequest },
  billable: true,
  errors: [
    { code: "RESOURCE_NOT_FOUND", details: { file_id: { body: "/inputs/0/files/0/file_id" } } },
    "INVALID_INPUT",
  ],
  success: { status: 200, schema: ModelResponse },
  access(call) {
    const { inputs } = call.body;
    for (const [position, input] of inputs.entries()) requireFewFiles(input, position);
    const file_ids = [...new Set(inputs.flatMap(filesOf))];
    requireFiles(call, file_ids);
    return { file_ids, question: questionOf(inputs) };
  },
  prepare: ({ world }, asked, { services }) => bestQuote(passageInFile, { world, services, ...asked }),
  handle({ body, world, principal }, { file_ids, question }, quote) {
    const [model] = world.index(models, "by_key", body.model).page(0, 1);
    if (!model?.is_active)
      throw invalidInput("model", body.model, "model must be the key of an active model");
    const text = replyTo(world, { model: model.key, question, file_ids, quote });
    const input_tokens = tokensOf(body.inputs.flatMap(textsOf));
    const output_tokens = tokensOf([text]);
    const total_tokens = input_tokens + output_tokens;
    const cost = costOf(total_tokens, model.cost_per_1k_tokens);
    const { organization_id, key_id } = principal;
    recordSpending(world, { organization_id, key_id, amount: cost });
    const response: Static<typeof ModelResponse> = {
      id: world.newId("resp_"),
      object: "model.response",
      created_at: world.iso(world.now),
      model: model.key,
      output: [{ type: "message", role: "assistant", content: [{ type: "text", text }] }],
      usage: { input_tokens, output_tokens, total_tokens, cost, currency: "CHF" },
      inputs: body.inputs.map((input) => returned(input, world)),
    };
    return new TokenReply(200, response, total_tokens);
  },
});

/** Section 2.13 counts a message's files wherever they stand; the schema only counts each place. */
function requireFewFiles(input: InputMessage, position: number): void {
  if (filesOf(input).length <= FILES_PER_MESSAGE) return;
  throw invalidInput(
    `inputs[${position}].files`,
    input.files,
    `a message takes at most ${FILES_PER_MESSAGE} files, those in content blocks included`,
  );
}

function replyTo(
  world: Transaction,
  request: { model: string; question: string; file_ids: readonly string[]; quote: Quote | undefined },
): string {
  for (const rule of world.index(replyRules, "in_order", "")) {
    if (matches(rule, request)) return rule.reply;
  }
  return composeReply({ seed: world.seed, ...request });
}

/** Section 2.13: items carry an id when the API returns them. */
function returned({ id, role, content, texts, files }: InputMessage, world: Transaction) {
  return {
    id: id ?? world.newId("msg_"),
    role,
    ...(content === undefined ? {} : { content }),
    ...(texts === undefined ? {} : { texts }),
    ...(files === undefined ? {} : { files }),
  };
}
