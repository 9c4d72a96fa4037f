import type { ErrorCode } from "../../engine/contract/errors.ts";
import { computeOnce } from "../../engine/contract/fixture-record.ts";
import type { AnyOperation, Call } from "../../engine/contract/operation.ts";
import { Reply } from "../../engine/contract/reply.ts";
import {
  ADMINISTRATOR_ERRORS,
  MEMBER_ERRORS,
  requireAdministrator,
  requireMember,
} from "../../engine/resources/organizations/access.ts";
import { createHeaderGenerator } from "./answer-unbound.ts";
import { getAction, type OperationBinding } from "./binding-schema.ts";
import type { BindingContext, BoundParts } from "./bound-access.ts";
import { receiveFiles, takesBytes } from "./bound-files.ts";
import { BoundOperation } from "./bound-operation.ts";
import { declareOperation, findSuccess } from "./declare-operation.ts";
import type { DescribedOperation } from "./list-operations.ts";
import { toSelector } from "./select-records.ts";
import { fill, toValues } from "./templates.ts";

/**
 * One operation of a document, with the collection that it works on. The parts that only calls need are made at the
 * first call.
 */
export function bindOperation(
  described: DescribedOperation,
  binding: OperationBinding,
  context: BindingContext,
): AnyOperation {
  const boundAction = getAction(binding);
  if (boundAction === undefined) return answerFixed(described, binding, context);
  const { action, name } = boundAction;
  const target = context.getTarget(name);
  const { access = described.isPublic ? "anyone" : "caller" } = binding;
  const selector = toSelector(described, binding, target);
  const success = findSuccess(described);
  const status = binding.status ?? success.status;
  const schema = success.json?.schema;
  const bound = computeOnce(
    () => new BoundOperation({ described, binding, action, target, context, selector, success, status }),
  );
  return {
    ...declareOperation(described, context.reading),
    credentials: access !== "anyone",
    reads: action === "list" || action === "retrieve" || action === "download",
    errors: listErrors(access, { action, target, selector }),
    success: {
      status,
      ...(schema && { schema: context.reading.schemas.declare(schema, "answer") }),
    } as never,
    access: (call: Call) => bound().access.authorize(call, access),
    ...(takesBytes(described, action, context.reading.schemas) && {
      prepare: (call, _loaded, { stream }) => receiveFiles(call, stream, described),
    }),
    handle: ((call, record, prepared) =>
      bound().handle(call, record as object, prepared)) as AnyOperation["handle"],
  };
}

function listErrors(
  access: string,
  { action, target, selector }: Pick<BoundParts, "action" | "target" | "selector">,
): ErrorCode[] {
  const errors: ErrorCode[] = [];
  if (access === "member") errors.push(...MEMBER_ERRORS);
  if (access === "admin") errors.push(...ADMINISTRATOR_ERRORS);
  if (action !== "list" && action !== "create") errors.push("RESOURCE_NOT_FOUND");
  else if (selector.where.some(([field]) => target.findOwner(field) !== undefined))
    errors.push("RESOURCE_NOT_FOUND");
  return errors;
}

function answerFixed(
  described: DescribedOperation,
  binding: OperationBinding,
  { reading }: BindingContext,
): AnyOperation {
  const { status: describedStatus, json, node } = findSuccess(described);
  const toHeaders = createHeaderGenerator(node, reading);
  const status = binding.status ?? describedStatus;
  const { access = described.isPublic ? "anyone" : "caller" } = binding;
  return {
    ...declareOperation(described, reading),
    credentials: access !== "anyone",
    errors: access === "member" ? [...MEMBER_ERRORS] : access === "admin" ? [...ADMINISTRATOR_ERRORS] : [],
    success: {
      status,
      ...(json?.schema && { schema: reading.schemas.declare(json.schema, "answer") }),
    } as never,
    access(call: Call) {
      const { organization_id = call.principal?.organization_id } = call.params as {
        organization_id?: string;
      };
      if (access === "admin") requireAdministrator(call, organization_id);
      if (access === "member") requireMember(call, organization_id);
    },
    handle: (call: Call) =>
      new Reply(status, fill(binding.answer, toValues(call)), toHeaders(call.world.seed)),
  } as AnyOperation;
}
