import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { CONTROL_OPERATIONS } from "../../src/control/operations/index.ts";
import { listSuccesses } from "../../src/engine/contract/operation.ts";
import { PROBLEM_TYPE, PROBLEMS } from "../../src/engine/contract/problems.ts";
import { toValidator } from "../../src/engine/contract/validator.ts";
import { buildControlApiDocument } from "../../src/tools/reports/control-openapi.ts";
import { type Api, startReference } from "../support/harness.ts";
import { AnswerValidator } from "../support/openapi/answer-validator.ts";
import {
  createExample,
  fillPath,
  listRefusals,
  send,
  sendRefused,
} from "../support/openapi/control-calls.ts";
import { createTempFolder, removeTempFolders } from "../support/run-understudy.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

/**
 * Sends each call of the control API with its declaration's examples, and causes each refusal that it declares.
 * Compares status, body and headers of each response with the API's own document.
 */
const VALIDATOR = new AnswerValidator(buildControlApiDocument(CONTROL_OPERATIONS, "test"));

let api: Api;
let full: Api;
beforeAll(async () => {
  const scenariosFolder = createTempFolder();
  writeFileSync(
    join(scenariosFolder, "broken.yaml"),
    "name: broken\nrules: [{ match: { operation: nowhere } }]\n",
  );
  api = await startReference({ scenariosFolder });
  full = await startReference({
    shared: { token: "a-token-of-tests", limits: { sandboxes: 1, records: 1, upload_bytes: 1, rules: 0 } },
  });
});
afterAll(async () => {
  await Promise.all([api.close(), full.close()]);
  removeTempFolders();
});

describe.each(CONTROL_OPERATIONS.map((operation) => [operation.id, operation] as const))(
  "%s",
  (id, operation) => {
    const [success] = listSuccesses(operation);

    // A stream does not end; it has its own test.
    if (success!.events === undefined)
      it(`${id} answers its example as documented [interfaces 11]`, async () => {
        const example = await createExample(api, operation);
        const answer = await send(api, example);
        expect(answer.status, answer.text).toBe(success!.status);
        expect(VALIDATOR.problems(operation, answer)).toEqual([]);
        await example.world.delete();
      });

    it.each(listRefusals(operation))(`${id} refuses with %s as documented [interfaces 11]`, async (kind) => {
      const example = await createExample(api, operation);
      const answer = await sendRefused(kind, example, { api, full });
      expect(answer.body.type, answer.text).toBe(PROBLEM_TYPE + kind);
      expect([answer.status, answer.body.title]).toEqual([PROBLEMS[kind].status, PROBLEMS[kind].title]);
      expect(VALIDATOR.problems(operation, answer)).toEqual([]);
      await example.world.delete();
    });
  },
);

it("journal.stream answers with events of the shape that is documented [interfaces 11]", async () => {
  const operation = CONTROL_OPERATIONS.find(({ id }) => id === "journal.stream")!;
  const { world, params } = await createExample(api, operation);
  const response = await fetch(api.url + fillPath(operation, params), { headers: { "last-event-id": "0" } });
  const checked = { status: response.status, headers: response.headers, text: "events" };
  expect(VALIDATOR.problems(operation, checked)).toEqual([]);
  let text = "";
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (/^data: .*\n\n/m.test(text)) break;
  }
  const [, data] = /^data: (.*)$/m.exec(text)!;
  const validate = toValidator(listSuccesses(operation)[0]!.events!);
  expect(validate(JSON.parse(data!)), JSON.stringify(validate.errors)).toBe(true);
  await world.delete();
});
