import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ScenarioLibrary } from "../../src/documents/scenario-library.ts";
import { CATALOGUE, type ErrorCode } from "../../src/engine/contract/errors.ts";
import { type AnyOperation, errorCodesOf } from "../../src/engine/contract/operation.ts";
import { API } from "../../src/engine/resources/index.ts";
import { activate, decisionOf } from "../support/fault-calls.ts";
import { type Api, startReference } from "../support/harness.ts";

const OPERATIONS = API.operations;
const library = new ScenarioLibrary({ api: API, trustBuild: false });
const SHIPPED = library.list();

let api: Api;
beforeAll(async () => {
  api = await startReference();
});
afterAll(() => api.close());

function exampleOf({ path, params }: AnyOperation): string {
  const properties = (params?.properties ?? {}) as Record<string, { examples?: string[] }>;
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => properties[name]?.examples?.[0] ?? "example");
}

/** The scenario that is about nothing but this code of this operation. */
function scenarioFor({ id }: AnyOperation, code: ErrorCode): string | undefined {
  return SHIPPED.find(({ scenario }) => {
    const [first, ...more] = scenario?.rules ?? [];
    return (
      more.length === 0 && first?.document.match?.operation === id && first.document.effect?.error === code
    );
  })?.name;
}

describe("interfaces 6 every documented refusal has a scenario, which reaches it", () => {
  const documented = OPERATIONS.flatMap((operation) =>
    errorCodesOf(operation)
      .filter((code) => [401, 403, 404, 422, 429].includes(CATALOGUE[code].status))
      .map((code) => ({ operation, code })),
  );

  it.each(OPERATIONS.map((operation) => [operation.id, operation] as const))(
    "interfaces 6 %s: each of its codes is reached by a shipped scenario",
    async (id, operation) => {
      const codes = documented.filter((one) => one.operation === operation).map(({ code }) => code);
      for (const code of codes) {
        const name = scenarioFor(operation, code);
        expect(
          name,
          `no scenario under scenarios/ reaches ${code} of ${id}; run \`npm run scenarios\``,
        ).toBeDefined();
        await activate(api, name!);
        const answer = await api.call("ivan", operation.method, exampleOf(operation));
        expect(answer.status, `${name}: ${answer.text}`).toBe(CATALOGUE[code].status);
        expect(decisionOf(answer)).toMatch(new RegExp(`^fault:${name}/`));
        const { entries } = (await api.call(undefined, "GET", "/_control/sandboxes/default/journal?limit=1"))
          .body;
        expect(entries[0]).toMatchObject({ operation: id, code });
      }
    },
  );
});

describe("the files under scenarios/", () => {
  it("interfaces 6 each is right, called like its scenario, and says what it does", () => {
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
    "receiver-down",
    "receiver-gone",
    ...["reset", "hang", "empty", "truncate", "garbage", "drip"].map((wire) => `broken-wire-${wire}`),
  ])("interfaces 6 ships %s", (name) => {
    expect(library.get(name).rules.length).toBeGreaterThan(0);
  });
});
