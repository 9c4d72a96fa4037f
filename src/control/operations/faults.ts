import Type from "typebox";
import { noContent } from "../../contract/operation.ts";
import { RuleExists } from "../../faults/rule-set.ts";
import { presentRule } from "../faults-body.ts";
import { requireRoom } from "../limits.ts";
import { type AnyControlOperation, controlOperation, S } from "../operation.ts";
import { conflict, unknownName } from "../problem.ts";

const RuleParams = Type.Object({ name: Type.String(), id: Type.String() });

const listFaults = controlOperation({
  id: "faults.list",
  method: "GET",
  path: `${S}/faults`,
  summary: "List the inline rules, newest first, which is the order in which they are asked",
  handle({ sandbox, server }) {
    sandbox.world.catchUp();
    const items = server.faults.of(sandbox).rules.inlineRules.map(presentRule);
    return { items, total: items.length };
  },
});

const addFault = controlOperation({
  id: "faults.add",
  method: "POST",
  path: `${S}/faults`,
  summary: "Arm a rule",
  status: 201,
  body: { schema: Type.Unsafe<object>({ type: "object" }) },
  handle({ body, sandbox, server }) {
    const { rules } = server.faults.of(sandbox);
    requireRoom(server, "rules", rules.all().length + 1);
    try {
      return presentRule(rules.add(body));
    } catch (error) {
      if (!(error instanceof RuleExists)) throw error;
      throw conflict(
        "id-in-use",
        `there is an inline rule ${error.message} already`,
        "delete it first, or leave the id away",
      );
    }
  },
});

const retrieveFault = controlOperation({
  id: "faults.retrieve",
  method: "GET",
  path: `${S}/faults/{id}`,
  summary: "Show an inline rule and how often it has struck",
  params: RuleParams,
  handle({ params: { id }, sandbox, server }) {
    sandbox.world.catchUp();
    const { inlineRules } = server.faults.of(sandbox).rules;
    const found = inlineRules.find(({ rule }) => rule.id === id);
    if (found !== undefined) return presentRule(found);
    throw unknownRule(id, inlineRules);
  },
});

const removeFault = controlOperation({
  id: "faults.remove",
  method: "DELETE",
  path: `${S}/faults/{id}`,
  summary: "Disarm an inline rule",
  params: RuleParams,
  handle({ params: { id }, sandbox, server }) {
    const { rules } = server.faults.of(sandbox);
    const { inlineRules } = rules;
    if (!rules.remove(id)) throw unknownRule(id, inlineRules);
    return noContent();
  },
});

const clearFaults = controlOperation({
  id: "faults.clear",
  method: "DELETE",
  path: `${S}/faults`,
  summary: "Disarm all inline rules; scenarios stay as they are",
  handle({ sandbox, server }) {
    server.faults.of(sandbox).rules.clear();
    return noContent();
  },
});

function unknownRule(id: string, known: readonly { rule: { id: string } }[]) {
  return unknownName(
    "inline rule",
    id,
    known.map(({ rule }) => rule.id),
  );
}

export const FAULT_OPERATIONS: readonly AnyControlOperation[] = [
  listFaults,
  addFault,
  retrieveFault,
  removeFault,
  clearFaults,
];
