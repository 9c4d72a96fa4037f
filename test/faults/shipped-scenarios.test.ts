import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { ScenarioLibrary } from "../../src/documents/scenario-library.ts";
import { CATALOGUE, type ErrorCode } from "../../src/engine/contract/errors.ts";
import { type AnyOperation, listErrorCodes } from "../../src/engine/contract/operation.ts";
import { readScenario } from "../../src/engine/faults/scenario.ts";
import { API } from "../../src/engine/resources/index.ts";
import { activate, getDecision } from "../support/fault-calls.ts";
import { type Api, startReference } from "../support/harness.ts";

const OPERATIONS = API.operations;
const library = new ScenarioLibrary({ api: API });
const SHIPPED = library.list().filter(({ origin }) => origin === "shipped");
const DERIVED = library.list().filter(({ origin }) => origin === "derived");

let api: Api;
beforeAll(async () => {
  api = await startReference();
});
afterAll(() => api.close());

function fillPath({ path, params }: AnyOperation): string {
  const properties = (params?.properties ?? {}) as Record<string, { examples?: string[] }>;
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => properties[name]?.examples?.[0] ?? "example");
}

/** The scenario that only tests this code of this operation. */
function findScenario({ id }: AnyOperation, code: ErrorCode): string | undefined {
  return DERIVED.find(({ scenario }) => {
    const [first] = scenario!.rules;
    return first!.document.match?.operation === id && first!.document.effect?.error === code;
  })?.name;
}

describe("a derived scenario", () => {
  const documented = OPERATIONS.flatMap((operation) =>
    listErrorCodes(operation)
      .filter((code) => [401, 403, 404, 422, 429].includes(CATALOGUE[code].status))
      .map((code) => ({ operation, code })),
  );

  it("exists for each documented refusal and no other [interfaces 6]", () => {
    expect(DERIVED).toHaveLength(documented.length);
    expect(DERIVED.map(({ name }) => name)).toContain("departments-reparent-cycle");
    for (const { name, scenario } of DERIVED) {
      expect(name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)+$/);
      expect(scenario!.rules).toHaveLength(1);
      expect(scenario!.description!.length, name).toBeGreaterThan(30);
    }
  });

  it("passes `scenario check` as printed by `scenario show`, and has the same rules [interfaces 2]", () => {
    for (const { name, file, scenario } of DERIVED) {
      const copy = readScenario({ text: stringify(scenario!.document), displayName: file, file }, API);
      expect(copy.document, name).toEqual(scenario!.document);
      expect(copy.rules[0]!.operations, name).toEqual(scenario!.rules[0]!.operations);
    }
  });

  it.each(OPERATIONS.map((operation) => [operation.id, operation] as const))(
    "of %s gives each of the documented refusals when it is on [interfaces 6]",
    async (id, operation) => {
      const codes = documented.filter((one) => one.operation === operation).map(({ code }) => code);
      for (const code of codes) {
        const name = findScenario(operation, code);
        expect(name, `no scenario reaches ${code} of ${id}`).toBeDefined();
        await activate(api, name!);
        const answer = await api.call("ivan", operation.method, fillPath(operation));
        expect(answer.status, `${name}: ${answer.text}`).toBe(CATALOGUE[code].status);
        expect(getDecision(answer)).toMatch(new RegExp(`^fault:${name}/`));
        const { entries } = (await api.call(undefined, "GET", "/_control/sandboxes/default/journal?limit=1"))
          .body;
        expect(entries[0]).toMatchObject({ operation: id, code });
      }
    },
  );
});

describe("a file under scenarios/", () => {
  it("is valid, is named after its scenario, and has a description [interfaces 6]", () => {
    expect(SHIPPED.length).toBeGreaterThan(15);
    for (const { name, file, scenario, problem } of SHIPPED) {
      expect(problem?.format()).toBeUndefined();
      expect(basename(file)).toBe(`${name}.yaml`);
      expect(scenario!.description!.length, name).toBeGreaterThan(30);
      expect(readFileSync(file, "utf8").length, name).toBeLessThan(1500);
    }
  });

  it.each([
    "slow-network",
    "flaky-ten-percent",
    "outage-with-recovery",
    "lost-answers",
    "broken-wire",
    "session-expired-mid-work",
    "budget-exhausted-organization",
    "budget-exhausted-api-total",
    "budget-exhausted-api-key",
    ...["outage-mid-run", "slow-decay", "budget-runs-out", "token-expires-mid-run", "deployment"],
    "answer-lost-after-commit",
    "receiver-down",
    "receiver-gone",
    ...["reset", "hang", "empty", "truncate", "garbage", "drip"].map((wire) => `broken-wire-${wire}`),
  ])("is included for %s [interfaces 6]", (name) => {
    expect(library.get(name).rules.length).toBeGreaterThan(0);
  });
});
