import type { Check, Context } from "../../check.ts";
import { judgeAnyRefusal, judgeRefusal } from "../../judge-refusal.ts";
import { judgeSuccess, succeeded } from "../../judge-success.ts";
import { whatIsMissing } from "../../parameters.ts";
import type { Exchange } from "../../target.ts";

async function currentOrganization({ contract, target }: Context): Promise<string | null> {
  const exchange = await target.send({ operation: contract.operation("models.list") });
  return exchange.headers.get("service-organization");
}

const current: Check = {
  id: "users.set_current_organization/there-and-back",
  family: "writes",
  section: "4.5",
  title: "users.set_current_organization sets the organization, and back",
  async run(context) {
    const { contract, target, known, verdict, changes } = context;
    const before = await currentOrganization(context);
    if (before === null) return verdict.notObservable("no answer says what the organization is now");
    const operation = contract.operation("users.set_current_organization");
    const set = (organization_id: string) => target.send({ operation, body: { organization_id } });
    judgeSet(context, await set(before), before);
    const other = known.candidates("other_organization_id").find((id) => id !== before);
    if (other === undefined) {
      verdict.note(`set to ${before} again only; ${whatIsMissing(known, ["other_organization_id"])}`);
      return;
    }
    const change = { done: `set the key's organization to ${other}`, undone: false, detail: "" };
    changes.push(change);
    try {
      judgeSet(context, await set(other), other);
      const now = await currentOrganization(context);
      verdict.expect(now === other, `the next answer is of ${now}, not ${other}`, "G32");
    } finally {
      const back = await target.undo(() => set(before));
      change.undone = succeeded(back);
      change.detail = change.undone ? `back to ${before}` : `setting ${before} again answered ${back.status}`;
    }
    verdict.expect((await currentOrganization(context)) === before, `it is not ${before} again`, "G32");
  },
};

function judgeSet({ verdict }: Context, exchange: Exchange, organization_id: string): void {
  if (!judgeSuccess(verdict, exchange) || !succeeded(exchange)) return;
  const { success, current_organization_id, organization } = exchange.json;
  verdict.expect(success === true, `success is ${success}`);
  const fits = current_organization_id === organization_id && organization.id === organization_id;
  verdict.expect(fits, `it was set to ${current_organization_id} instead of ${organization_id}`);
}

/** 3.5 and 4.3. Moves a department to the top and back under the parent that the user says it has. */
const reparent: Check = {
  id: "departments.reparent/there-and-back",
  family: "writes",
  section: "4.3",
  title: "departments.reparent moves a department to the top, and back",
  async run(context) {
    const { contract, target, known, verdict, changes } = context;
    const names = ["organization_id", "department_id", "parent_department_id"];
    const [where] = known.bindings(names, 1);
    if (where === undefined) return verdict.notObservable(whatIsMissing(known, names));
    const { organization_id, department_id, parent_department_id } = where as Record<string, string>;
    const parent = parent_department_id === "null" ? null : parent_department_id!;
    const operation = contract.operation("departments.reparent");
    const params = { organization_id: organization_id!, department_id: department_id! };
    const move = (new_parent_id: string | null) =>
      target.send({ operation, params, body: { new_parent_id } });

    const cycle = await move(department_id!);
    if (cycle.status === 403) {
      judgeAnyRefusal(verdict, cycle);
      return verdict.notObservable("the key's user may not move departments");
    }
    const details = { department_id, new_parent_id: department_id };
    judgeRefusal(verdict, cycle, { code: "DEPARTMENT_CYCLE_DETECTED", details });
    if (parent === null) return verdict.note("it is at the top already, so only the cycle was tried");
    const change = { done: `moved ${department_id} to the top`, undone: false, detail: "" };
    changes.push(change);
    try {
      judgeMoved(context, await move(null), null);
    } finally {
      const back = await target.undo(() => move(parent));
      change.undone = succeeded(back);
      change.detail = change.undone ? `back under ${parent}` : `moving it back answered ${back.status}`;
      judgeMoved(context, back, parent);
    }
  },
};

function judgeMoved({ verdict }: Context, exchange: Exchange, parent: string | null): void {
  if (!judgeSuccess(verdict, exchange) || !succeeded(exchange)) return;
  const { id, parent_id, path, depth } = exchange.json;
  const chain = String(path).split("/");
  verdict.expect(parent_id === parent, `parent_id is ${parent_id} instead of ${parent}`);
  verdict.expect(chain.at(-1) === id, `the path ${path} does not end with ${id}`);
  const above = chain.at(-2) ?? null;
  verdict.expect(above === parent, `the path ${path} has ${above} above it, not ${parent}`);
  verdict.expect(depth === chain.length - 1, `the depth of ${path} is ${depth}`, "G10");
}

export { current as currentOrganizationCheck, reparent as reparentCheck };
