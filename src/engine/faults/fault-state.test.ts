import fc from "fast-check";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createFacts } from "../../../test/support/fault-setup.ts";
import type { Understudy } from "../../control/understudy-options.ts";
import { readSentOperations } from "../../documents/openapi/read-sent-document.ts";
import { assemble } from "../../understudy.ts";
import type { FaultState } from "../sandbox/fault-types.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { ArmedRules } from "./armed-rules.ts";
import { SandboxFaults } from "./faults.ts";

/** A store saves the faults of a sandbox again only if `revision` has increased. */
let understudy: Understudy;
let sandbox: Sandbox;
let faults: SandboxFaults;
let kept: FaultState;
beforeEach(() => {
  understudy = assemble({ fixture: "reference", clock: { mode: "frozen", now: 0 } });
  sandbox = understudy.sandboxes.get("default")!;
  faults = sandbox.faults as SandboxFaults;
  kept = faults.toState();
});
afterEach(() => understudy.close());

const event = { event: "user.created", webhook_id: "wh_x" };
const match = { operation: "models.list" };
const effect = { status: 503 };

/** Every call that may change the saved state. */
const CALLS: Record<string, () => unknown> = {
  before: () => faults.before(createFacts("models.list")),
  after: () => faults.after(createFacts("models.list")),
  staged: () => faults.setScenarios(["outage-mid-run"]),
  enterStages: () => faults.enterStages()?.recordStageEnds(),
  evaluateDelivery: () => faults.evaluateDelivery(event),
  onCounted: () => {
    const [rule] = faults.rules.allRules;
    rule?.decide(1, "models.list");
    if (rule !== undefined) faults.onCounted(rule);
  },
  setScenarios: () => faults.setScenarios(["models-list-rate-limited"]),
  setInitialScenarios: () => faults.setInitialScenarios(["flaky-ten-percent", "slow-network"]),
  none: () => faults.setScenarios([]),
  reset: () => faults.reset(),
  moveLeases: () => {
    // A world with another time: each lease keeps its remaining time, so its end moves.
    const { clock, ...value } = sandbox.world.toValue();
    sandbox.world.restore({ ...value, clock: { ...clock, at: clock.at - 1000 } });
    faults.rules.moveLeases(-1000);
  },
  endLease: () => faults.rules.endLease(faults.rules.allRules[0]?.key ?? "none"),
  expire: () => sandbox.world.advance((now) => now + 60_000),
  keep: () => {
    kept = faults.toState();
  },
  restoreState: () => faults.restoreState(kept),
  add: () => faults.add({ match, times: 2, effect }),
  sequence: () => faults.add({ match, phase: "after", sequence: [503, "pass", 429] }),
  drawn: () => faults.add({ match: { event: "user.*" }, probability: 0.5, effect }),
  leased: () => faults.add({ match, lease: { ttl: "1m", hits: 3 }, effect }),
  twice: () => faults.add({ id: "same", match, effect }),
  wrong: () => faults.add({ match: { operation: "model.list" }, effect }),
  change: () =>
    faults.change(faults.rules.inlineRules[0]?.rule.id ?? "none", { match, effect, times: ++changes }),
  remove: () => faults.remove(faults.rules.inlineRules[0]?.rule.id ?? "none"),
  removeAll: () => faults.rules.remove(),
  replaceScenario: () => {
    const [name] = faults.rules.scenarios;
    if (name !== undefined)
      faults.rules.replaceScenario({ ...getScenario(name), rules: getScenario(name).rules.slice(1) });
  },
};
let changes = 1;
const getScenario = (name: string) => understudy.scenarios.get(name);

it("every change of the saved state of faults increases their revision [interfaces 2]", async () => {
  const names = fc.constantFrom(...Object.keys(CALLS));
  const changed = new Set<string>();
  await fc.assert(
    fc.asyncProperty(fc.array(names, { minLength: 5, maxLength: 30 }), async (sequence) => {
      faults.setInitialScenarios([]);
      faults.rules.remove();
      for (const name of sequence) {
        const [state, revision] = [JSON.stringify(faults.toState()), faults.rules.revision];
        try {
          await CALLS[name]!();
        } catch (error) {
          expect(["RuleExistsError", "DocumentError"]).toContain((error as Error).name);
        }
        if (JSON.stringify(faults.toState()) === state) continue;
        changed.add(name);
        expect([name, faults.rules.revision > revision]).toEqual([name, true]);
      }
    }),
    { numRuns: 150 },
  );
  // Every call must change the state at least once, or the test proves nothing.
  expect(Object.keys(CALLS).filter((name) => !changed.has(name))).toEqual(["keep", "wrong"]);
});

it("the test of revisions covers every method that can change the saved state [interfaces 2]", () => {
  const READ =
    "constructor seed scenarios active paths toState createTrace close readForSandbox allRules activeRules stages runningStages leaseHolders isInForce onHold findUsable";
  const INNER =
    "activate replace deactivateSpent notify countRequest onRulesChanged updateSubscription hasRule createRuleId getStages endStage recordInHistory updateLeases";
  const known = new Set([...Object.keys(CALLS), ...READ.split(" "), ...INNER.split(" ")]);
  const prototypes = [SandboxFaults.prototype, ArmedRules.prototype];
  const methods = prototypes.flatMap((one) => Object.getOwnPropertyNames(one));
  expect(methods.filter((name) => !known.has(name))).toEqual([]);
});

it("the server's delay applies to operations of one sandbox, also after a reset or a restore [interfaces 2]", async () => {
  const server = assemble({ fixture: "reference", clock: { mode: "frozen", now: 0 }, delay: "1ms" });
  const paths = { "/v1/health": { get: { operationId: "health", responses: { 200: { description: "" } } } } };
  const openapi = { openapi: "3.1.0", info: { title: "Health", version: "1" }, paths };
  const { ownResources } = readSentOperations({ openapi }, sandbox.api.resources);
  const mine = server.sandboxes.create({ name: "mine", ownResources });
  const { rules } = mine.faults as SandboxFaults;
  const isDelayed = () => rules.allRules.some(({ rule }) => rule.operations?.has("health"));
  const created = isDelayed();
  mine.reset();
  const reset = isDelayed();
  mine.faults.restoreState(mine.faults.toState());
  expect({ created, reset, restored: isDelayed() }).toEqual({ created: true, reset: true, restored: true });
  await server.close();
});
