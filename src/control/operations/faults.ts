import { Type } from "typebox";
import { noContent } from "../../engine/contract/reply.ts";
import { ListOf } from "../../engine/contract/schema.ts";
import { RuleExists } from "../../engine/faults/faults.ts";
import { RuleBody, RuleInput, renderRule } from "../faults-body.ts";
import { requireRoom } from "../limits.ts";
import { type ControlOperation, operation, sandboxParams, toList } from "../operation.ts";
import { conflict, unknownName } from "../problem.ts";

const OfRule = sandboxParams({
  id: Type.String({ description: "The rule's id", examples: ["lost-answer"] }),
});

export const FAULT_OPERATIONS: readonly ControlOperation[] = [
  operation({
    id: "faults.list",
    route: "GET S/faults",
    summary: "List inline rules in the order of evaluation, newest first",
    success: { status: 200, schema: ListOf(RuleBody) },
    handle({ sandbox, server }) {
      sandbox.world.catchUp();
      return toList(server.faults.of(sandbox).inlineRules.map(renderRule));
    },
  }),
  operation({
    id: "faults.add",
    route: "POST S/faults",
    summary: "Arm a rule, or renew the lease of the same rule",
    body: { kind: "json", schema: RuleInput, validated: "by handler" },
    kind: "scenario",
    describeChange: (_call, answer) => {
      const { id } = (answer ?? {}) as { id?: string };
      return { title: `The rule ${id ?? "without an id"} was armed.`, subject: id };
    },
    errors: ["id-in-use", "limit-reached", "invalid-document"],
    success: { status: 201, schema: RuleBody },
    handle({ body, sandbox, server }) {
      const faults = server.faults.of(sandbox);
      requireRoom(server, "rules", faults.rules.length + 1);
      try {
        return renderRule(faults.add(body));
      } catch (error) {
        if (!(error instanceof RuleExists)) throw error;
        throw conflict(
          "id-in-use",
          `there is an inline rule ${error.message} already`,
          "delete it first, or omit the id",
        );
      }
    },
  }),
  operation({
    id: "faults.retrieve",
    route: "GET S/faults/{id}",
    summary: "Show an inline rule and how often it was triggered",
    params: OfRule,
    errors: ["unknown-inline-rule"],
    success: { status: 200, schema: RuleBody },
    handle({ params: { id }, sandbox, server }) {
      sandbox.world.catchUp();
      const { inlineRules } = server.faults.of(sandbox);
      const found = inlineRules.find(({ rule }) => rule.id === id);
      if (found !== undefined) return renderRule(found);
      throw unknownRule(id, inlineRules);
    },
  }),
  operation({
    id: "faults.change",
    route: "PUT S/faults/{id}",
    summary: "Replace an inline rule; id and place stay, its counts begin at zero",
    params: OfRule,
    body: { kind: "json", schema: RuleInput, validated: "by handler" },
    kind: "scenario",
    describeChange: ({ params: { id } }) => ({ title: `The rule ${id} was changed.`, subject: id }),
    errors: ["unknown-inline-rule", "invalid-document"],
    success: { status: 200, schema: RuleBody },
    handle({ params: { id }, body, sandbox, server }) {
      const faults = server.faults.of(sandbox);
      const changed = faults.change(id, body);
      if (changed === undefined) throw unknownRule(id, faults.inlineRules);
      return renderRule(changed);
    },
  }),
  operation({
    id: "faults.remove",
    route: "DELETE S/faults/{id}",
    summary: "Disarm an inline rule",
    params: OfRule,
    kind: "scenario",
    describeChange: ({ params: { id } }) => ({ title: `The rule ${id} was disarmed.`, subject: id }),
    errors: ["unknown-inline-rule"],
    success: { status: 204 },
    handle({ params: { id }, sandbox, server }) {
      const faults = server.faults.of(sandbox);
      const { inlineRules } = faults;
      if (!faults.remove(id)) throw unknownRule(id, inlineRules);
      return noContent();
    },
  }),
  operation({
    id: "faults.clear",
    route: "DELETE S/faults",
    summary: "Disarm all inline rules; scenarios are unchanged",
    kind: "scenario",
    describeChange: () => ({ title: "All inline rules were disarmed." }),
    success: { status: 204 },
    handle({ sandbox, server }) {
      server.faults.of(sandbox).clear();
      return noContent();
    },
  }),
];

function unknownRule(id: string, known: readonly { rule: { id: string } }[]) {
  return unknownName(
    "inline rule",
    id,
    known.map(({ rule }) => rule.id),
  );
}
