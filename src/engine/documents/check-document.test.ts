import { Ajv2020 as Ajv, type ValidateFunction } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { checkDocument, diagnose } from "./check-document.ts";
import { formatProblem } from "./document-error.ts";
import { readDocument } from "./read-document.ts";
import { createInlineDocument } from "./user-document.ts";

const ajv = new Ajv({ strict: false });

function listProblems(text: string, schema: object): string[] {
  const document = readDocument(text, { file: "a.yaml" });
  return checkDocument(document, ajv.compile(schema)).map(formatProblem);
}

const organization = {
  type: "object",
  additionalProperties: false,
  required: ["id"],
  properties: {
    id: { type: "string" },
    name: { type: "string", minLength: 1 },
    plan: { enum: ["standard", "premium", "enterprise"] },
    rate_limit: { type: "integer", minimum: 1 },
    parent_id: { type: ["string", "null"] },
  },
};
const fixture = {
  type: "object",
  additionalProperties: false,
  properties: { organizations: { type: "array", items: organization } },
};

const duration = { type: "string", pattern: "^\\d+(ms|s)$", title: "a duration such as 200ms" };
const error = {
  type: "object",
  additionalProperties: false,
  required: ["error"],
  properties: { error: { type: "string" }, delay: { anyOf: [duration, { type: "integer" }] } },
};
const wire = {
  type: "object",
  additionalProperties: false,
  required: ["wire"],
  properties: { wire: { enum: ["reset", "hang", "drip"] }, over: duration },
};
const webhook = {
  type: "object",
  required: ["type", "url"],
  properties: { type: { const: "webhook" }, url: { type: "string" } },
};
const email = {
  type: "object",
  required: ["type", "email"],
  properties: { type: { const: "email" }, email: { type: "string" } },
};
const scenarioRule = {
  type: "object",
  additionalProperties: false,
  required: ["id"],
  properties: {
    id: { type: "string" },
    sequence: {
      type: "array",
      items: { anyOf: [{ type: "integer" }, { const: "pass" }, { const: "fail" }] },
    },
    times: { type: "integer" },
    effect: { anyOf: [error, wire] },
    notify: { oneOf: [webhook, email] },
  },
  not: { required: ["sequence", "times"] },
};
const scenario = {
  type: "object",
  required: ["name", "rules"],
  additionalProperties: false,
  properties: { name: { type: "string" }, rules: { type: "array", items: scenarioRule } },
};
const toScenarioText = (lines: string) => `name: x\nrules:\n  - id: r\n${lines.replace(/^/gm, "    ")}`;

describe("a message about a document", () => {
  it.each([
    ["rate_limit: abc", 'a.yaml:1:13: `rate_limit` must be an integer, not the text "abc"'],
    ["rate_limit: 0", "a.yaml:1:13: `rate_limit` must be at least 1, not the number 0"],
    ["rate_limit: [1]", "a.yaml:1:13: `rate_limit` must be an integer, not a list"],
    ["name: ''", "a.yaml:1:7: `name` must be at least 1 character long, not an empty text"],
    ["parent_id: 5", "a.yaml:1:12: `parent_id` must be a text or null, not the number 5"],
    [
      "plan: premum",
      'a.yaml:1:7: `plan` must be "standard", "premium" or "enterprise", not the text "premum" (did you mean "premium"?)',
    ],
    ["plan:", 'a.yaml:1:6: `plan` must be "standard", "premium" or "enterprise", not null'],
    [
      "ratelimit: 5",
      'a.yaml:1:1: the document may not have the key `ratelimit` (did you mean "rate_limit"?)',
    ],
    [
      "colour: red",
      "a.yaml:1:1: the document may not have the key `colour`; it may have `id`, `name`, `plan`, `rate_limit` and `parent_id`",
    ],
  ])("reports the mistake in %j and its place [interfaces 5]", (text, expected) => {
    expect(listProblems(`${text}\n`, { ...organization, required: [] })).toEqual([expected]);
  });

  it("points at the map for a missing key, at the key if it is not allowed, in the order of the text [interfaces 5]", () => {
    const text =
      "organizations:\n  - { name: Acme, plan: gold }\n  - id: org_b\n    rate_limt: 5\n    name: 7\n";
    expect(listProblems(text, fixture)).toEqual([
      "a.yaml:2:5: `organizations[0]` needs `id`",
      'a.yaml:2:25: `organizations[0].plan` must be "standard", "premium" or "enterprise", not the text "gold"',
      'a.yaml:4:5: `organizations[1]` may not have the key `rate_limt` (did you mean "rate_limit"?)',
      "a.yaml:5:11: `organizations[1].name` must be a text, not the number 7",
    ]);
  });

  it("is absent for a valid document, and describes the right type otherwise [interfaces 5]", () => {
    expect(listProblems("organizations: [{ id: org_a }]", fixture)).toEqual([]);
    expect(listProblems("- 1", fixture)).toEqual(["a.yaml:1:1: the document must be a map, not a list"]);
    expect(listProblems("", fixture)).toEqual(["a.yaml:1:1: the document must be a map, but it is empty"]);
  });

  it("describes counts, lists, formats and patterns in plain words [interfaces 5]", () => {
    const schema = {
      properties: {
        a: { type: "array", minItems: 2 },
        b: { type: "array", uniqueItems: true },
        c: { type: "string", format: "date" },
        d: { type: "string", pattern: "^wh_" },
        e: { multipleOf: 5 },
        f: { exclusiveMinimum: 0, maximum: 1 },
        g: { type: "object", propertyNames: { enum: ["acme_corp"] } },
        h: { type: "object", maxProperties: 1 },
        "a/b~c": { type: "string" },
      },
      dependentRequired: { a: ["z"] },
    };
    const lines = [
      "a: [1]",
      "b: [1, 2, 1]",
      "c: soon",
      "d: x",
      "e: 7",
      "f: 2",
      "g: { acmecorp: 1 }",
      "h: { x: 1, y: 2 }",
      "a/b~c: 1",
    ];
    const document = readDocument(lines.join("\n"), { file: "a.yaml" });
    const validate = new Ajv({ strict: false, formats: { date: /^\d{4}-\d\d-\d\d$/ } }).compile(schema);
    expect(checkDocument(document, validate).map(formatProblem)).toEqual([
      "a.yaml:1:1: the document needs `z` beside `a`",
      "a.yaml:1:4: `a` must have at least 2 items",
      "a.yaml:2:4: `b` may have each item once; items 0 and 2 are the same",
      'a.yaml:3:4: `c` must be a date such as 2026-03-15, not the text "soon"',
      'a.yaml:4:4: `d` must be a text that matches ^wh_, not the text "x"',
      "a.yaml:5:4: `e` must be a multiple of 5, not the number 7",
      "a.yaml:6:4: `f` must be at most 1, not the number 2",
      'a.yaml:7:6: `g` may not have the key `acmecorp` (did you mean "acme_corp"?)',
      "a.yaml:8:4: `h` may have at most 1 key",
      'a.yaml:9:8: `["a/b~c"]` must be a text, not the number 1',
    ]);
  });

  it("is one for a value of the wrong type among words [interfaces 6]", () => {
    const words = { type: "string", enum: ["reset", "hang"] };
    const properties = { wire: words, method: { const: "GET", type: "string" } };
    const schema = { type: "object", properties };
    expect(listProblems("wire: {}\nmethod: 5\n", schema)).toEqual([
      'a.yaml:1:7: `wire` must be "reset" or "hang", not a map',
      'a.yaml:2:9: `method` must be "GET", not the number 5',
    ]);
  });

  it("shows the example of a schema without a title, not its pattern [interfaces 5]", () => {
    const id = { type: "string", pattern: "^usr_[a-z]+$", examples: ["usr_example"] };
    expect(listProblems("user: 7up\n", { type: "object", properties: { user: id } })).toEqual([
      'a.yaml:1:7: `user` must be a text such as usr_example, not the text "7up"',
    ]);
  });

  it("is short, also for long values [interfaces 5]", () => {
    const long = "x".repeat(100_000);
    const [first] = listProblems(
      `organizations: [{ id: a, plan: ${long}, ? ${long.slice(0, 900)} }]`,
      fixture,
    );
    expect(first!.length).toBeLessThan(250);
    const many = Array.from({ length: 500 }, () => "  - { id: 5 }").join("\n");
    expect(listProblems(`organizations:\n${many}`, fixture)).toHaveLength(20);
  });
});

describe("a message about alternatives", () => {
  it("explains the branch that fits best, not all branches [interfaces 6]", () => {
    expect(listProblems(toScenarioText("effect: { wire: rset }"), scenario)).toEqual([
      'a.yaml:4:21: `rules[0].effect.wire` must be "reset", "hang" or "drip", not the text "rset" (did you mean "reset"?)',
    ]);
    expect(listProblems(toScenarioText("effect: { error: X, dely: 5 }"), scenario)).toEqual([
      'a.yaml:4:25: `rules[0].effect` may not have the key `dely` (did you mean "delay"?)',
    ]);
    expect(listProblems(toScenarioText("effect: { eror: X }"), scenario)).toContain(
      'a.yaml:4:15: `rules[0].effect` may not have the key `eror` (did you mean "error"?)',
    );
  });

  it("names every choice when none fits better [interfaces 6]", () => {
    expect(listProblems(toScenarioText("effect: reset"), scenario)).toEqual([
      'a.yaml:4:13: `rules[0].effect` must be a map, not the text "reset"',
    ]);
    expect(listProblems(toScenarioText("effect: {}"), scenario)).toEqual([
      "a.yaml:4:13: `rules[0].effect` needs `error` or `wire`",
    ]);
    expect(listProblems(toScenarioText("sequence: [503, pas]"), scenario)).toEqual([
      'a.yaml:4:21: `rules[0].sequence[1]` must be "pass", "fail" or an integer, not the text "pas" (did you mean "pass"?)',
    ]);
    expect(listProblems(toScenarioText("effect: { error: X, delay: 5 minutes }"), scenario)).toEqual([
      'a.yaml:4:32: `rules[0].effect.delay` must be a duration such as 200ms or an integer, not the text "5 minutes"',
    ]);
  });

  it("reports an unknown tag of a union, and checks the branch of a known one [interfaces 6]", () => {
    expect(listProblems(toScenarioText("notify: { type: webhok, url: x }"), scenario)).toEqual([
      'a.yaml:4:21: `rules[0].notify.type` must be "webhook" or "email", not the text "webhok" (did you mean "webhook"?)',
    ]);
    expect(listProblems(toScenarioText("notify: { type: email, url: x }"), scenario)).toEqual([
      "a.yaml:4:13: `rules[0].notify` needs `email`",
    ]);
  });

  it("reports keys that exclude each other [interfaces 6]", () => {
    expect(listProblems(toScenarioText("sequence: [503]\ntimes: 2"), scenario)).toEqual([
      "a.yaml:3:5: `rules[0]` may not have `sequence` and `times` together",
    ]);
    const oneOf = { oneOf: [{ required: ["times"] }, { required: ["every"] }] };
    expect(listProblems("times: 2\nevery: 3", oneOf)).toEqual([
      "a.yaml:1:1: the document may have only one of `times` and `every`",
    ]);
  });

  it("a document with 100,000 problems gets messages for the first 200, quickly [quality 2.11]", () => {
    const either = { anyOf: [{ type: "string" }, { type: "integer", minimum: 1 }] };
    const validate = ajv.compile({ type: "array", items: either, maxItems: 5 });
    // Errors of a branch that is valid in the end do not count.
    const list = [...Array.from({ length: 1000 }, () => "fine"), ...Array.from({ length: 1000 }, () => 0)];
    expect(validate(list)).toBe(false);
    const reported = diagnose(list, validate).map(
      ({ keyword, instancePath }) => `${keyword} ${instancePath}`,
    );
    const first = Array.from({ length: 200 }, (_, index) => `choices /${1000 + index}`);
    expect(reported.toSorted()).toEqual(["maxItems ", ...first].toSorted());
  });

  it("a union of references still gets an error at its place [interfaces 6]", () => {
    const tree = {
      anyOf: [{ $ref: "#/$defs/text" }, { type: "integer" }],
      $defs: { text: { type: "string", minLength: 1 } },
    };
    expect(listProblems("true", tree)).toContain("a.yaml:1:1: the document must be a text, not true");
  });

  it("reports problems also for a schema with its own ajv instance [interfaces 6]", () => {
    const own = new Ajv({ strict: false, allErrors: true });
    own.addSchema({ $id: "https://example.test/id", type: "string" });
    own.addKeyword({ keyword: "even", validate: (_: unknown, data: number) => data % 2 === 0 });
    const foreign = own.compile({ properties: { id: { $ref: "https://example.test/id" } } });
    expect(listChecked("id: 5", foreign)).toEqual(["a.yaml:1:5: `id` must be a text"]);
    expect(listChecked("n: 3", own.compile({ properties: { n: { even: true } } }))).toEqual([
      'a.yaml:1:4: `n` must pass "even" keyword validation',
    ]);
  });

  function listChecked(text: string, validate: ValidateFunction): string[] {
    return checkDocument(readDocument(text, { file: "a.yaml" }), validate).map(formatProblem);
  }
});

it("a value without source text gets a message that names the field [interfaces 4]", () => {
  const document = createInlineDocument({ organizations: [{ id: "a", plan: 5 }] }, { file: "fixture" });
  const [problem] = checkDocument(document, ajv.compile(fixture));
  expect(problem).toMatchObject({ field: "organizations[0].plan", line: 0 });
  expect(formatProblem(problem!)).toMatch(/^fixture: `organizations\[0\].plan` must be/);
});
