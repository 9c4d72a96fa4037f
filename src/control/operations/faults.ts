import { type Static, Type } from "typebox";
import { ClosedObject, getExamples, ListOf, Nullable, Timestamp } from "../../engine/contract/schema.ts";
import type { ArmedRule } from "../../engine/faults/armed-rule.ts";
import { RuleExistsError } from "../../engine/faults/armed-rules.ts";
import { RuleDocument } from "../../engine/faults/rule-document.ts";
import { requireRoom } from "../limits.ts";
import { type ControlOperation, operation, sandboxParams, toList } from "../operation.ts";
import { conflict, unknownName } from "../problem.ts";

/** A rule as input of a call (interfaces.md 6). */
export const RuleInput = ClosedObject(RuleDocument.properties, {
  $id: "RuleInput",
  examples: [
    {
      id: "lost-answer",
      match: { operation: "files.register" },
      times: 2,
      effect: { error: "RATE_LIMIT_EXCEEDED" },
    },
  ],
});

const { id: _id, lease: _lease, ...documentFields } = RuleDocument.properties;

/** A rule with its hits in this sandbox (interfaces.md 4). */
export const RuleBody = ClosedObject(
  {
    id: Type.String(),
    ...documentFields,
    hits: Type.Integer({ minimum: 0, description: "How often it was triggered" }),
    lease: Nullable(
      ClosedObject({
        ttl: Type.Optional(Type.Unsafe<string | number>({ type: ["string", "number"] })),
        hits: Type.Optional(Type.Integer({ minimum: 1 })),
        hits_left: Type.Optional(Type.Integer({ minimum: 0 })),
        ends_at: Type.Optional(Timestamp({ description: "On the sandbox's clock" })),
      }),
    ),
    spent: Type.Boolean({ description: "It will not trigger again" }),
  },
  {
    $id: "Rule",
    examples: [{ ...(getExamples(RuleInput)[0] as object), hits: 1, lease: null, spent: false }],
  },
);

export function renderRule(armed: ArmedRule): Static<typeof RuleBody> {
  const { rule, progress } = armed;
  const { id: _id, lease, ...document } = rule.document;
  return {
    id: rule.id,
    ...document,
    hits: progress.hits,
    lease:
      lease === undefined
        ? null
        : {
            ...lease,
            ...(lease.hits === undefined ? {} : { hits_left: Math.max(0, lease.hits - progress.hits) }),
            ...(progress.due === undefined ? {} : { ends_at: new Date(progress.due).toISOString() }),
          },
    spent: armed.isSpent,
  };
}

const RuleParams = sandboxParams({
  id: Type.String({ description: "The rule's id", examples: ["lost-answer"] }),
});

export const FAULT_OPERATIONS: readonly ControlOperation[] = [
  operation({
    id: "faults.list",
    route: "GET /_control/sandboxes/{name}/faults",
    summary: "List inline rules, newest first. They come from calls, not from scenarios",
    success: { status: 200, schema: ListOf(RuleBody) },
    handle({ sandbox, server }) {
      sandbox.world.catchUp();
      return toList(server.faults.getSandboxFaults(sandbox).rules.inlineRules.map(renderRule));
    },
  }),
  operation({
    id: "faults.add",
    route: "POST /_control/sandboxes/{name}/faults",
    summary: "Add an inline rule. If the same rule exists under the same id, its lease is renewed",
    query: ClosedObject({
      place: Type.Integer({
        minimum: 0,
        default: 0,
        description: "The rule's place in the list; 0 is the first",
      }),
    }),
    body: { kind: "json", schema: RuleInput, validated: "by handler" },
    kind: "scenario",
    // Only the handler knows whether the rule existed.
    describeChange: ({ change }) => change!,
    errors: ["id-in-use", "limit-reached", "invalid-document"],
    success: { status: 201, schema: RuleBody },
    handle({ body, query: { place }, sandbox, server, change }) {
      const faults = server.faults.getSandboxFaults(sandbox);
      const { allRules, inlineRules } = faults.rules;
      const isRenewal = inlineRules.some(({ rule }) => rule.id === body.id);
      if (!isRenewal) requireRoom(server, "rules", allRules.length + 1);
      try {
        const armed = faults.add(body, place);
        const { id } = armed.rule;
        change!.subject = id;
        change!.title = isRenewal ? `The lease of the rule ${id} was renewed.` : `The rule ${id} was armed.`;
        return renderRule(armed);
      } catch (error) {
        if (!(error instanceof RuleExistsError)) throw error;
        throw conflict(
          "id-in-use",
          `There is an inline rule "${error.id}" already`,
          "delete it first, or omit the id",
        );
      }
    },
  }),
  operation({
    id: "faults.retrieve",
    route: "GET /_control/sandboxes/{name}/faults/{id}",
    summary: "Show an inline rule and how often it was triggered",
    params: RuleParams,
    errors: ["unknown-inline-rule"],
    success: { status: 200, schema: RuleBody },
    handle({ params: { id }, sandbox, server }) {
      sandbox.world.catchUp();
      const { inlineRules } = server.faults.getSandboxFaults(sandbox).rules;
      const armed = inlineRules.find(({ rule }) => rule.id === id);
      if (armed !== undefined) return renderRule(armed);
      throw unknownRule(id, inlineRules);
    },
  }),
  operation({
    id: "faults.change",
    route: "PUT /_control/sandboxes/{name}/faults/{id}",
    summary: "Replace an inline rule. Its id and place stay, its counts begin at zero",
    params: RuleParams,
    body: { kind: "json", schema: RuleInput, validated: "by handler" },
    kind: "scenario",
    describeChange: ({ params: { id } }) => ({ title: `The rule ${id} was changed.`, subject: id }),
    errors: ["unknown-inline-rule", "invalid-document"],
    success: { status: 200, schema: RuleBody },
    handle({ params: { id }, body, sandbox, server }) {
      const faults = server.faults.getSandboxFaults(sandbox);
      const changed = faults.change(id, body);
      if (changed === undefined) throw unknownRule(id, faults.rules.inlineRules);
      return renderRule(changed);
    },
  }),
  operation({
    id: "faults.remove",
    route: "DELETE /_control/sandboxes/{name}/faults/{id}",
    summary: "Remove an inline rule",
    params: RuleParams,
    kind: "scenario",
    describeChange: ({ params: { id } }) => ({ title: `The rule ${id} was disarmed.`, subject: id }),
    errors: ["unknown-inline-rule"],
    success: { status: 204 },
    handle({ params: { id }, sandbox, server }) {
      const faults = server.faults.getSandboxFaults(sandbox);
      const { inlineRules } = faults.rules;
      if (!faults.remove(id)) throw unknownRule(id, inlineRules);
    },
  }),
  operation({
    id: "faults.clear",
    route: "DELETE /_control/sandboxes/{name}/faults",
    summary: "Remove all inline rules. Scenarios are unchanged",
    kind: "scenario",
    describeChange: () => ({ title: "All inline rules were disarmed." }),
    success: { status: 204 },
    handle: ({ sandbox, server }) => server.faults.getSandboxFaults(sandbox).rules.remove(),
  }),
];

function unknownRule(id: string, rules: readonly { rule: { id: string } }[]) {
  return unknownName(
    "inline rule",
    id,
    rules.map(({ rule }) => rule.id),
  );
}
