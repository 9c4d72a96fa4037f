import { readFileSync } from "node:fs";
import sharp from "sharp";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { type Api, type Caller, startReference } from "../support/harness.ts";
import { getStateRules } from "../support/state-rules.ts";
import { createFileForm } from "../support/upload-setup.ts";

let api: Api;
beforeEach(async () => {
  api = await startReference();
});
afterEach(() => api.close());

const ask = (who: Caller | undefined, body: unknown) => api.call(who, "POST", "/v1/model/response", body);
const askBen = (inputs: unknown[], model = "atlas-large") => ask("ben", { model, inputs });
const makeUserMessage = (content: unknown, more: object = {}) => ({ role: "user", content, ...more });
const readText = (answer: { body: { output: { content: { text: string }[] }[] } }) =>
  answer.body.output[0]!.content[0]!.text;
const countTokens = (...texts: string[]) => Math.ceil(Buffer.byteLength(texts.join("")) / 4);

describe("model_responses.create [4.19]", () => {
  it("answers with output, usage and the inputs with ids [4.19, G20]", async () => {
    const answer = await askBen([
      { role: "system", content: "Be brief." },
      makeUserMessage("What is the plan?"),
    ]);
    expect(answer.status).toBe(200);
    const text = readText(answer);
    expect(text.length).toBeGreaterThan(10);
    const input_tokens = countTokens("Be brief.", "What is the plan?");
    const output_tokens = countTokens(text);
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^resp_/),
      object: "model.response",
      created_at: "2026-03-15T12:00:00.000Z",
      model: "atlas-large",
      output: [{ type: "message", role: "assistant", content: [{ type: "text", text }] }],
      usage: {
        input_tokens,
        output_tokens,
        total_tokens: input_tokens + output_tokens,
        cost: Number((((input_tokens + output_tokens) / 1000) * 0.02).toFixed(6)),
        currency: "CHF",
      },
      inputs: [
        { id: expect.stringMatching(/^msg_/), role: "system", content: "Be brief." },
        { id: expect.stringMatching(/^msg_/), role: "user", content: "What is the plan?" },
      ],
    });
  });

  it("accepts both input forms and content blocks mixed in one request [2.13, G20]", async () => {
    const inputs = [
      makeUserMessage("Grüezi"),
      { role: "assistant", texts: [{ text: "Hello" }, { text: "there" }] },
      makeUserMessage([
        { type: "text", text: "and " },
        { type: "text", text: "now?" },
      ]),
    ];
    const { status, body } = await askBen(inputs);
    expect(status).toBe(200);
    expect(body.usage.input_tokens).toBe(countTokens("Grüezi", "Hello", "there", "and ", "now?"));
    expect(body.inputs).toMatchObject(inputs);
    expect(body.inputs.every(({ id }: { id: string }) => id.startsWith("msg_"))).toBe(true);
  });

  it("keeps the id of an item that was returned before [2.13]", async () => {
    const first = await askBen([makeUserMessage("Hello")]);
    const again = await askBen([...first.body.inputs, makeUserMessage("And now?")]);
    expect(again.body.inputs[0].id).toBe(first.body.inputs[0].id);
  });

  it("gives the same answer to the same question and model, and another answer with another seed [G20]", async () => {
    const questions = ["What is the plan?", "What is the goal?", "Who decides?"];
    const listAnswers = async () => {
      const texts: string[] = [];
      for (const question of questions) texts.push(readText(await askBen([makeUserMessage(question)])));
      return texts;
    };
    const first = await listAnswers();
    expect(new Set(first).size).toBe(3);
    expect(await listAnswers()).toEqual(first);
    await api.close();
    api = await startReference({ seed: 12 });
    expect(await listAnswers()).not.toEqual(first);
  });

  it("counts tokens in bytes of UTF-8, and charges nothing for a model without a price [G20]", async () => {
    const { body } = await askBen([makeUserMessage("日本語のテキスト")], "breeze-chat");
    expect(body.usage.input_tokens).toBe(6);
    expect(body.usage.cost).toBe(0);
  });

  it.each([
    [{ inputs: [makeUserMessage("x")] }, "model", null],
    [{ model: "", inputs: [makeUserMessage("x")] }, "model", ""],
    [{ model: 5, inputs: [makeUserMessage("x")] }, "model", 5],
    [{ model: "atlas-large" }, "inputs", null],
    [{ model: "atlas-large", inputs: [] }, "inputs", []],
    [{ model: "atlas-large", inputs: "x" }, "inputs", "x"],
    [{ model: "atlas-large", inputs: [{ content: "x" }] }, "inputs[0].role", null],
    [{ model: "atlas-large", inputs: [{}] }, "inputs[0].role", null],
    [{ model: "atlas-large", inputs: [{ role: "tool", content: "x" }] }, "inputs[0].role", "tool"],
    [{ model: "atlas-large", inputs: [makeUserMessage("x"), { role: "user" }] }, "inputs[1].content", null],
    [{ model: "atlas-large", inputs: [makeUserMessage(5)] }, "inputs[0].content", 5],
    [
      { model: "atlas-large", inputs: [makeUserMessage([{ type: "text" }])] },
      "inputs[0].content[0].text",
      null,
    ],
    [
      { model: "atlas-large", inputs: [makeUserMessage([{ type: "file" }])] },
      "inputs[0].content[0].file_id",
      null,
    ],
    [
      { model: "atlas-large", inputs: [makeUserMessage([{ type: "image" }])] },
      "inputs[0].content[0].type",
      "image",
    ],
    [{ model: "atlas-large", inputs: [{ role: "user", texts: [{}] }] }, "inputs[0].texts[0].text", null],
    [
      { model: "atlas-large", inputs: [makeUserMessage("x", { files: [{ file_id: "handbook" }] })] },
      "inputs[0].files[0].file_id",
      "handbook",
    ],
  ])("refuses the body %j with the field %s [4.19, 2.13, G08]", async (body, field, value) => {
    const answer = await ask("ben", body);
    expect(answer.status).toBe(422);
    expect(answer.body.error).toMatchObject({ code: "INVALID_INPUT", details: { field, value } });
    expect(answer.headers.get("x-sandbox-decision")).toBe("validation");
  });

  it.each(["dune-legacy", "no-such-model"])(
    "refuses the model %s by the operation's own rule [4.19, G20]",
    async (model) => {
      const answer = await askBen([makeUserMessage("x")], model);
      expect(answer.status).toBe(422);
      expect(answer.body.error.details).toEqual({ field: "model", value: model });
      expect(answer.headers.get("x-sandbox-decision")).toBe("rule");
    },
  );

  it("answers 401 without credentials [4.19]", async () => {
    expect((await ask(undefined, {})).body.error.code).toBe("AUTHENTICATION_REQUIRED");
  });
});

describe("files of a message [2.13]", () => {
  const makeFileBlocks = (count: number) =>
    Array.from({ length: count }, (_, i) => ({ file_id: `file_none${i}` }));
  const makeBlocks = (count: number) => makeFileBlocks(count).map((file) => ({ type: "file", ...file }));

  it.each([
    [
      "in files",
      makeUserMessage("x", { files: makeFileBlocks(11) }),
      "inputs[0].files",
      "must NOT have more than 10 items",
    ],
    [
      "in content blocks",
      makeUserMessage(makeBlocks(11)),
      "inputs[0].content",
      "must NOT have more than 10 items of one kind",
    ],
    [
      "in both together",
      makeUserMessage(makeBlocks(6), { files: makeFileBlocks(5) }),
      "inputs[0].files",
      "at most 10 files",
    ],
  ])(
    "are refused before any lookup if there are more than ten %s [2.13, G20]",
    async (_, input, field, why) => {
      const answer = await askBen([input]);
      expect(answer.status).toBe(422);
      expect(answer.body.error.details.field).toBe(field);
      expect(answer.body.error.message).toContain(why);
      expect(answer.headers.get("x-sandbox-decision")).toBe("validation");
    },
  );

  it("are refused as content that is neither text nor a list [G08]", async () => {
    const { message } = (await askBen([makeUserMessage(5)])).body.error;
    expect(message).toBe("inputs[0].content must be string or array");
  });

  it.each([
    ["in files", makeUserMessage("x", { files: makeFileBlocks(10) })],
    ["in content blocks", makeUserMessage([{ type: "text", text: "x" }, ...makeBlocks(10)])],
  ])("are 404 with the id if unknown (%s), before spending and reply rules [4.19, G20]", async (_, input) => {
    for (const who of ["ben", "ci"] as const) {
      const answer = await ask(who, { model: "no-such-model", inputs: [input] });
      expect(answer.status).toBe(404);
      expect(answer.body.error).toMatchObject({
        code: "RESOURCE_NOT_FOUND",
        details: { file_id: "file_none0" },
      });
    }
  });
});

describe("the context window", () => {
  it("refuses more input tokens than the model accepts with 422 and their number [G35]", async () => {
    const fits = await askBen([makeUserMessage("x".repeat(4 * 64_000))], "comet-mini");
    expect(fits.body.usage.input_tokens).toBe(64_000);
    const answer = await askBen(
      [{ role: "system", content: "y" }, makeUserMessage("x".repeat(4 * 64_000))],
      "comet-mini",
    );
    expect(answer.status).toBe(422);
    expect(answer.body.error.details).toEqual({ field: "inputs", value: 64_001 });
    expect(answer.headers.get("x-sandbox-decision")).toBe("rule");
    expect((await askBen([makeUserMessage("x".repeat(300_000))], "breeze-chat")).status).toBe(200);
  });

  it("accepts more input tokens if context_window is ignore [G35]", async () => {
    await api.close();
    api = await startReference({ settings: { context_window: "ignore" } });
    expect((await askBen([makeUserMessage("x".repeat(300_000))], "comet-mini")).status).toBe(200);
  });
});

describe("pictures in a message", () => {
  async function uploadImage(colour: string, name: string): Promise<string> {
    const bytes = await sharp({ create: { width: 64, height: 40, channels: 3, background: colour } })
      .png()
      .toBuffer();
    const form = createFileForm(bytes, { name, type: "image/png" });
    return (await api.call("dan", "POST", "/v1/organizations/org_acme/files/upload", form)).body.id;
  }

  it("are described by format, size and colours [G35]", async () => {
    const files = [
      { file_id: await uploadImage("#1030d0", "sea.png") },
      { file_id: await uploadImage("#20a040", "meadow.png") },
    ];
    const text = readText(await askBen([makeUserMessage("What do you see?", { files })]));
    expect(text).toContain("sea.png is a wide PNG picture of 64 x 40 pixels, mostly blue.");
    expect(text).toContain("meadow.png is a wide PNG picture of 64 x 40 pixels, mostly green.");
  });

  it("are described from the seed, always the same, if their bytes are missing [G35]", async () => {
    const { record } = getStateRules(api, "files").post({
      filename: "plan.jpg",
      organization_id: "org_acme",
    });
    const see = async () =>
      readText(await askBen([makeUserMessage("Look", { files: [{ file_id: record.id }] })]));
    const first = await see();
    expect(first).toMatch(/^plan\.jpg is a \w+ JPEG picture of \d+ x \d+ pixels, mostly \w+, \w+ and \w+\.$/);
    expect(await see()).toBe(first);
  });

  it("are refused for a model without vision, which is in no list [G35]", async () => {
    getStateRules(api, "models").patch("model_comet-mini", { vision: false });
    const file_id = await uploadImage("red", "a.png");
    const answer = await askBen(
      [makeUserMessage("x"), makeUserMessage("Look", { files: [{ file_id: "file_loose" }, { file_id }] })],
      "comet-mini",
    );
    expect(answer.status).toBe(422);
    expect(answer.body.error.details).toEqual({ field: "inputs[1].files[1].file_id", value: file_id });
    const block = await askBen(
      [
        makeUserMessage([
          { type: "text", text: "x" },
          { type: "file", file_id },
        ]),
      ],
      "comet-mini",
    );
    expect(block.body.error.details.field).toBe("inputs[0].content[1].file_id");
    const listed = (await api.call("ben", "GET", "/v1/models")).body.models;
    expect(listed.every((one: object) => !("vision" in one))).toBe(true);
  });
});

describe("the reply to a conversation", () => {
  const question = makeUserMessage("How do we start?");

  it("repeats in a second turn what the user said before [G20]", async () => {
    const earlier = [
      makeUserMessage("My favourite colour is teal."),
      { role: "assistant", content: "Noted." },
    ];
    const first = readText(await askBen([question]));
    const second = readText(await askBen([...earlier, question]));
    expect(first).not.toContain("before");
    expect(second).toContain('You said before: "My favourite colour is teal.".');
    const answered = [{ role: "assistant", content: "Hello!" }, question];
    expect(readText(await askBen(answered))).toContain('I said before: "Hello!".');
  });

  it("differs by conversation, and is the same for the same conversation [G20]", async () => {
    const replies = new Set<string>();
    for (let n = 0; n < 6; n++) {
      const earlier = [makeUserMessage(`Turn ${n}`), { role: "assistant", content: "Yes." }];
      const text = readText(await askBen([...earlier, question]));
      expect(readText(await askBen([...earlier, question]))).toBe(text);
      replies.add(text);
    }
    expect(replies.size).toBe(6);
  });

  it("repeats the conversation also with a quotation, on one line and shortened [G20]", async () => {
    const earlier = [makeUserMessage(`${"word ".repeat(30)}\nend`), { role: "assistant", content: "Yes." }];
    const about = makeUserMessage("How many days of vacation do employees get?", {
      files: [{ file_id: "file_handbook" }],
    });
    const text = readText(await askBen([...earlier, about]));
    expect(text).toContain("27 days of paid vacation");
    expect(text).toContain(`You said before: "${"word ".repeat(16)}…".`);
  });
});

describe("the rules for replies", () => {
  it("reply with the first one that matches the last user message, in any case [G20]", async () => {
    const rules = getStateRules(api, "reply_rules");
    rules.post({ match: { text: "WEATHER" }, reply: "Sunny." });
    rules.post({ match: { text: "weather tomorrow" }, reply: "Never reached." });
    rules.post({ match: { model: "comet-mini" }, reply: "I am small." });
    expect(readText(await askBen([makeUserMessage("What is the Weather tomorrow?")]))).toBe("Sunny.");
    expect(readText(await askBen([makeUserMessage("Hello")], "comet-mini"))).toBe("I am small.");
    const earlier = [
      makeUserMessage("weather?"),
      { role: "assistant", content: "weather!" },
      makeUserMessage("Thanks"),
    ];
    expect(readText(await askBen(earlier))).not.toBe("Sunny.");
    rules.post({ match: { text: "ΣΊΣ" }, reply: "Roll the stone." });
    expect(readText(await askBen([makeUserMessage("Who is Σίσυφος?")]))).toBe("Roll the stone.");
  });

  it("must match in every condition, and are evaluated in the order of position [G20]", async () => {
    const rules = getStateRules(api, "reply_rules");
    const { record } = rules.post({ match: {}, reply: "Anything." });
    rules.post({ match: { model: "atlas-large", text: "plan" }, reply: "The plan.", position: 0 });
    rules.patch(record.id, { position: 5 });
    expect(readText(await askBen([makeUserMessage("the plan")]))).toBe("The plan.");
    expect(readText(await askBen([makeUserMessage("the plan")], "comet-mini"))).toBe("Anything.");
  });

  it("give the texts of a sequence in order, and repeat the last one [G20]", async () => {
    const rules = getStateRules(api, "reply_rules");
    rules.post({ match: { text: "next" }, sequence: ["One.", "Two.", "Three."] });
    const said: string[] = [];
    for (let n = 0; n < 5; n++) said.push(readText(await askBen([makeUserMessage("next")])));
    expect(said).toEqual(["One.", "Two.", "Three.", "Three.", "Three."]);
    expect(readText(await askBen([makeUserMessage("other")]))).not.toBe("Three.");
  });

  it("begin with the first text of a sequence that replaces another [G20]", async () => {
    const rules = getStateRules(api, "reply_rules");
    const { record } = rules.post({ match: {}, sequence: ["One.", "Two."], delay: "1ms" });
    await askBen([makeUserMessage("x")]);
    rules.patch(record.id, { sequence: ["New.", "Last."] });
    expect(readText(await askBen([makeUserMessage("x")]))).toBe("New.");
    rules.patch(record.id, { delay: "2ms" });
    expect(readText(await askBen([makeUserMessage("x")]))).toBe("Last.");
    rules.patch(record.id, { sequence: ["New.", "Then.", "Last."], turn: 1 });
    expect(readText(await askBen([makeUserMessage("x")]))).toBe("Then.");
  });

  it("answer an error as the operation would, without a cost [G20]", async () => {
    const rules = getStateRules(api, "reply_rules");
    const before = getStateRules(api, "usage").get("org_acme");
    const refusing = rules.post({ match: {}, error: "RATE_LIMIT_EXCEEDED" });
    const limited = await askBen([makeUserMessage("x")]);
    expect([limited.status, limited.headers.get("retry-after")]).toEqual([429, "60"]);
    expect(limited.body.error).toMatchObject({
      code: "RATE_LIMIT_EXCEEDED",
      details: { limit: 1000, window_seconds: 60, retry_after_seconds: 60 },
    });
    expect(limited.headers.get("x-ratelimit-remaining")).toBe("0");
    await api.advance(42_500);
    const later = await askBen([makeUserMessage("x")]);
    expect([later.headers.get("retry-after"), later.body.error.details.retry_after_seconds]).toEqual([
      "18",
      18,
    ]);
    rules.patch(refusing.record.id, { error: "RESOURCE_NOT_FOUND" });
    const missing = await askBen([makeUserMessage("x", { files: [{ file_id: "file_handbook" }] })]);
    expect(missing.status).toBe(404);
    expect(missing.body.error.details).toEqual({ file_id: "file_handbook" });
    rules.patch(refusing.record.id, { error: "ORGANIZATION_ACCESS_DENIED" });
    expect((await askBen([makeUserMessage("x")])).body.error.details).toEqual({
      organization_id: "org_acme",
    });
    rules.patch(refusing.record.id, { error: "PAYLOAD_TOO_LARGE" });
    expect((await askBen([makeUserMessage("x")])).body.error.details).toEqual({
      limit_bytes: 10 * 1024 * 1024,
    });
    expect(getStateRules(api, "usage").get("org_acme")).toEqual(before);
  });

  it.each([
    ["ada", { scope: "organization", monthly_limit: 1000, current_usage: 1000 }],
    ["hana", { scope: "organization", monthly_limit: 100, current_usage: 100 }],
  ] as const)("answer a spending error with the limits of %s [G05]", async (who, details) => {
    getStateRules(api, "reply_rules").post({ match: {}, error: "SPENDING_LIMIT_EXCEEDED" });
    const refused = await api.call(who, "POST", "/v1/model/response", {
      model: "atlas-large",
      inputs: [makeUserMessage("x")],
    });
    expect([refused.status, refused.body.error.details]).toEqual([429, details]);
  });

  it("delay the answer in wall clock time [G20]", async () => {
    getStateRules(api, "reply_rules").post({ match: {}, reply: "Late.", delay: "120ms" });
    const began = performance.now();
    expect(readText(await askBen([makeUserMessage("x")]))).toBe("Late.");
    expect(performance.now() - began).toBeGreaterThanOrEqual(115);
  });

  it.each([
    [{ reply: "a", sequence: ["b"] }, "sequence"],
    [{ sequence: ["b"], error: "INVALID_INPUT" }, "error"],
    [{ error: "DEPARTMENT_CYCLE_DETECTED" }, "error"],
    [{ reply: "a", delay: "soon" }, "delay"],
    [{ reply: "a", delay: "2h" }, "delay"],
  ])("are refused with the field for the rule %j [G20]", async (rule, field) => {
    const path = "/_control/sandboxes/default/state/reply_rules";
    const answer = await api.call(undefined, "POST", path, { match: {}, ...rule });
    expect(answer.status, answer.text).toBe(422);
    expect(answer.text).toContain(field);
  });

  it("are in a fixture in their order [G20]", async () => {
    await api.close();
    const reference = parse(readFileSync(new URL("../../fixtures/reference.yaml", import.meta.url), "utf8"));
    const reply_rules = [
      { match: { text: "hello" }, reply: "Hi." },
      { match: { text: "turn" }, sequence: ["First.", "Second."], delay: "1ms" },
      { match: {}, reply: "" },
    ];
    api = await startReference({ fixture: { ...reference, reply_rules } });
    expect(readText(await askBen([makeUserMessage("Hello")]))).toBe("Hi.");
    expect(readText(await askBen([makeUserMessage("turn")]))).toBe("First.");
    expect(readText(await askBen([makeUserMessage("turn")]))).toBe("Second.");
    const silent = await askBen([makeUserMessage("Bye")]);
    expect(readText(silent)).toBe("");
    expect(silent.body.usage).toMatchObject({ input_tokens: 1, output_tokens: 0, total_tokens: 1 });
  });
});

describe("spending and tokens [4.19]", () => {
  it("are counted for the organization, the total and the key at once [4.17, G33]", async () => {
    getStateRules(api, "reply_rules").post({ match: {}, reply: "x".repeat(3_200_004) });
    const { body } = await askBen([makeUserMessage("y".repeat(799_996))]);
    expect(body.usage).toMatchObject({ total_tokens: 1_000_000, cost: 20 });
    const limits = (await api.call("ben", "GET", "/v1/analytics/usage/limits/org_acme")).body;
    expect(limits.organization_limits.current_usage).toBe(870);
    expect(limits.api_limits.current_usage).toBe(440);
    expect(limits.api_key_limits[1]).toMatchObject({ api_key_id: "apikey_ben", current_usage: 180 });
  });

  it("allow the request that reaches the limit, and refuse the next one [8]", async () => {
    getStateRules(api, "usage").patch("org_acme:apikey_ben", { monthly_limit: 160.000_01 });
    expect((await askBen([makeUserMessage("Hello")])).status).toBe(200);
    const refused = await askBen([makeUserMessage("Hello")]);
    expect(refused.status).toBe(429);
    expect(refused.body.error.details).toEqual({ scope: "api_key", monthly_limit: 160, current_usage: 160 });
  });

  it("stay the same for a refused request [4.19]", async () => {
    const before = getStateRules(api, "usage").get("org_acme");
    await askBen([makeUserMessage("x")], "no-such-model");
    expect(getStateRules(api, "usage").get("org_acme")).toEqual(before);
  });

  it("show the remaining tokens in the headers, and all of them again in the next window [G07]", async () => {
    const readTokensLeft = ({ headers }: { headers: Headers }) =>
      Number(headers.get("x-ratelimit-remaining-tokens"));
    const first = await askBen([makeUserMessage("Hello")]);
    expect(readTokensLeft(first)).toBe(1_000_000 - first.body.usage.total_tokens);
    expect(first.headers.get("x-ratelimit-limit-tokens")).toBe("1000000");
    const second = await askBen([makeUserMessage("Hello")]);
    const spent = first.body.usage.total_tokens + second.body.usage.total_tokens;
    expect(readTokensLeft(second)).toBe(1_000_000 - spent);
    expect(readTokensLeft(await api.call("ben", "GET", "/v1/models"))).toBe(1_000_000 - spent);
    expect(readTokensLeft(await api.call("dan", "GET", "/v1/models"))).toBe(1_000_000);
    await api.advance(60_000);
    expect(readTokensLeft(await api.call("ben", "GET", "/v1/models"))).toBe(1_000_000);
  });

  it("stop at 0 for the token budget, which never refuses a request [G07]", async () => {
    getStateRules(api, "reply_rules").post({ match: {}, reply: "x".repeat(5_000_000) });
    const over = await askBen([makeUserMessage("Hello")], "breeze-chat");
    expect(over.status).toBe(200);
    expect(over.headers.get("x-ratelimit-remaining-tokens")).toBe("0");
    expect((await askBen([makeUserMessage("Hello")], "breeze-chat")).status).toBe(200);
  });
});
