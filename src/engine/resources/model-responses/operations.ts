import { type Static, Type } from "typebox";
import { invalidInput } from "../../contract/errors.ts";
import { type Call, operation } from "../../contract/operation.ts";
import { TokenReply } from "../../contract/reply.ts";
import { type Model, models } from "../models/schema.ts";
import { CURRENT_MEMBER_ERRORS, requireCurrentMember } from "../organizations/access.ts";
import { recordSpending } from "../usage/spending.ts";
import { composeReply, findPictures, findQuotes } from "./reply.ts";
import { findRule, takeReply, waitForRule } from "./reply-rules.ts";
import {
  calculateCost,
  countTokens,
  listAttachments,
  listTexts,
  readConversation,
  refuseImages,
  requireFileLimit,
  requireFiles,
} from "./rules.ts";
import { InputMessage, ModelResponse } from "./schema.ts";

const ModelRequest = Type.Object({
  model: Type.String({ minLength: 1, examples: ["atlas-large"] }),
  inputs: Type.Array(InputMessage, { minItems: 1 }),
});

type ModelRequest = Static<typeof ModelRequest>;

const ASSUMED_FIELDS = [
  ...["id", "object", "created_at", "model", "usage", "inputs"],
  ...["output/*/type", "output/*/role", "output/*/content/*/type"],
];
const ASSUMED = {
  status: "G20",
  envelope: "G05",
  fields: Object.fromEntries(ASSUMED_FIELDS.map((name) => [`/${name}`, "G20"])),
};

export const createModelResponse = operation({
  id: "model_responses.create",
  section: "4.19",
  assumptions: ["G05", "G07", "G20", "G33", "G35", "G37"],
  assumed: ASSUMED,
  route: "POST /v1/model/response",
  summary: "Create a model response",
  description:
    "The cost counts against the spending limits. The text comes from the fixture's first reply rule that matches (G20). If no rule matches, the text is generated from the files, pictures and messages.",
  body: { kind: "json", schema: ModelRequest },
  billable: true,
  errors: [
    ...CURRENT_MEMBER_ERRORS,
    { code: "RESOURCE_NOT_FOUND", details: { file_id: { body: "/inputs/0/files/0/file_id" } } },
    "INVALID_INPUT",
  ],
  success: { status: 200, schema: ModelResponse },
  validate({ body }) {
    for (const [position, input] of body.inputs.entries()) requireFileLimit(input, position);
  },
  access(call) {
    requireCurrentMember(call);
    const file_ids = [...new Set(listAttachments(call.body.inputs).map(({ file_id }) => file_id))];
    requireFiles(call, file_ids);
    return file_ids;
  },
  async prepare(call, file_ids, { signal }) {
    const { world, body } = call;
    const input_tokens = countTokens(body.inputs.flatMap(listTexts));
    // `handle` finds model and rule again: they may have changed during the rule's delay.
    requireModel(call, input_tokens);
    const conversation = readConversation(body.inputs);
    const { question } = conversation;
    await waitForRule(findRule(world, { model: body.model, question, file_ids }), signal);
    return { input_tokens, conversation, quotes: await findQuotes(world, file_ids, question) };
  },
  handle(call, file_ids, { input_tokens, conversation, quotes }) {
    const { body, world, principal } = call;
    const model = requireModel(call, input_tokens);
    const request = { model: model.key, question: conversation.question, file_ids };
    const rule = findRule(world, request);
    const text = rule
      ? takeReply(call, rule, request)
      : composeReply({ seed: world.seed, model: model.key }, conversation, {
          quotes,
          pictures: findPictures(world, file_ids),
        });
    const output_tokens = countTokens([text]);
    const total_tokens = input_tokens + output_tokens;
    const cost = calculateCost(total_tokens, model.cost_per_1k_tokens);
    const { organization_id, key_id } = principal;
    recordSpending(world, { organization_id, key_id, amount: cost });
    const response: Static<typeof ModelResponse> = {
      id: world.createId("resp_"),
      object: "model.response",
      created_at: world.toIso(world.now),
      model: model.key,
      output: [{ type: "message", role: "assistant", content: [{ type: "text", text }] }],
      usage: { input_tokens, output_tokens, total_tokens, cost, currency: "CHF" },
      inputs: body.inputs.map(({ id = world.createId("msg_"), role, content, texts, files }) => {
        return { id, role, content, texts, files };
      }),
    };
    return new TokenReply(response, total_tokens);
  },
});

/**
 * Finds the model. @throws ApiError INVALID_INPUT for an inactive model, for more tokens than its context window
 * has, and for an image that a model without vision gets (G20, G35)
 */
function requireModel(
  { body, world, settings }: Pick<Call<unknown, unknown, ModelRequest>, "body" | "world" | "settings">,
  input_tokens: number,
): Model {
  const model = world.index(models, "by_key", body.model).first();
  if (!model?.is_active) throw invalidInput("model", body.model, "model must be the key of an active model");
  const { max_tokens } = model;
  if (settings.context_window === "enforce" && max_tokens !== null && input_tokens > max_tokens) {
    const reason = `inputs have ${input_tokens} tokens, more than the ${max_tokens} of ${model.key}`;
    throw invalidInput("inputs", input_tokens, reason);
  }
  if (model.vision === false) refuseImages(world, body.inputs);
  return model;
}
