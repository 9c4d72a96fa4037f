import type { ErrorCode } from "../../engine/contract/errors.ts";
import type { AnyOperation, Call } from "../../engine/contract/operation.ts";
import { Reply } from "../../engine/contract/reply.ts";
import { computeOnce } from "../../engine/maps.ts";
import { ADMINISTRATOR_ERRORS, MEMBER_ERRORS } from "../../engine/resources/organizations/access.ts";
import { createHeaderGenerator, isScalar, toTextBody } from "./answer-unbound.ts";
import { type Access, getAction, type OperationBinding } from "./binding-schema.ts";
import { type BindingContext, type BoundParts, requireRole } from "./bound-access.ts";
import { receiveFiles, takesFiles } from "./bound-files.ts";
import { BoundOperation } from "./bound-operation.ts";
import { declareSuccess, findSuccess } from "./declare-answer.ts";
import { declareOperation } from "./declare-operation.ts";
import type { DescribedOperation } from "./list-operations.ts";
import { toSelector } from "./select-records.ts";
import { fillPlaceholders, toPlaceholderValues } from "./templates.ts";

const ACCESS_ERRORS: Readonly<Record<Access, readonly ErrorCode[]>> = {
  anyone: [],
  caller: [],
  member: MEMBER_ERRORS,
  admin: ADMINISTRATOR_ERRORS,
};

/**
 * One operation of a document, with the collection that it works on, or with a fixed answer. The parts that only calls
 * need are made at the first call.
 */
export function bindOperation(
  described: DescribedOperation,
  binding: OperationBinding,
  context: BindingContext,
): AnyOperation {
  const { reading } = context;
  const { access = described.isPublic ? "anyone" : "caller" } = binding;
  const success = findSuccess(described, binding);
  const status = binding.status ?? success.status;
  const declaration = {
    ...declareOperation(described, reading),
    credentials: access !== "anyone",
    errors: [...ACCESS_ERRORS[access]],
    success: declareSuccess(success, status, reading.schemas) as never,
  };
  const boundAction = getAction(binding);
  if (boundAction === undefined) {
    const toHeaders = createHeaderGenerator(success.node, reading);
    return {
      ...declaration,
      access(call: Call) {
        const { organization_id, org_id } = call.params as Record<string, unknown>;
        const named = organization_id ?? org_id;
        requireRole(call, access, typeof named === "string" ? named : call.principal?.organization_id);
      },
      handle(call: Call) {
        const value = fillPlaceholders(binding.answer, toPlaceholderValues(call));
        const isNotJson = success.json === undefined && success.media !== undefined;
        const body = isNotJson && isScalar(value) ? toTextBody(value, success.media!.type) : value;
        return new Reply(status, body, toHeaders(call.world.seed));
      },
    } as AnyOperation;
  }
  const { action, name } = boundAction;
  const { body } = declaration;
  // These store a whole record, so an omitted body is an empty record, and its required fields are missing.
  if ((action === "create" || action === "replace") && body !== undefined && body.kind !== "stream")
    declaration.body = { ...body, default: {} };
  const target = context.getTarget(name);
  const selector = toSelector(described, binding, target);
  if (requiresRecord({ action, binding, target, selector })) declaration.errors.push("RESOURCE_NOT_FOUND");
  const bound = computeOnce(
    () => new BoundOperation({ described, binding, action, target, context, selector, success, status }),
  );
  return {
    ...declaration,
    reads: action === "list" || action === "retrieve" || action === "download",
    access: (call: Call) => bound().access.authorize(call, access),
    ...(takesFiles(described, action, reading.schemas) && {
      prepare: (call, _loaded, { stream }) => receiveFiles(call, stream, described),
    }),
    ...(context.isInferred && { checksAnswers: false as const }),
    handle: ((call, record, prepared) =>
      bound().handle(call, record as object, prepared)) as AnyOperation["handle"],
  };
}

/** Whether a record must exist: the one that a call is about, or an owner in its path. */
function requiresRecord({
  action,
  binding,
  target,
  selector,
}: Pick<BoundParts, "action" | "binding" | "target" | "selector">): boolean {
  if (action !== "list" && action !== "create") return true;
  return selector.where.some(
    ([field]) => target.findOwner(field) !== undefined || binding.parents?.[field] !== undefined,
  );
}
