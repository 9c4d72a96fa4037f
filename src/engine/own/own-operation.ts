import { type TObject, type TSchema, Type } from "typebox";
import { ApiError, CATALOGUE, type DeclaredError, OwnOperationError } from "../contract/errors.ts";
import type { AnyEvent } from "../contract/event.ts";
import { type AnyOperation, type Call, isBodyless, METHODS, type Success } from "../contract/operation.ts";
import { toPlainSchema } from "../contract/schema.ts";
import { makeAjv, provideValidator } from "../contract/validator.ts";
import {
  ADMINISTRATOR_ERRORS,
  CURRENT_MEMBER_ERRORS,
  MEMBER_ERRORS,
  requireAdministrator,
  requireCaller,
  requireCurrentMember,
  requireMember,
} from "../resources/organizations/access.ts";
import { checkFields, checkKeys, checkParameters } from "./check-fields.ts";
import type { DeclarationSource, DeclaredOperation, Fields } from "./declaration.ts";
import { ANY_BODY_OR_NONE, guardHandler, toHandlerCall } from "./guard.ts";

interface OperationContext {
  source: DeclarationSource;
  inlineRecords: (schema: object) => TSchema;
  eventsByName: ReadonlyMap<string, AnyEvent>;
}

/** @throws OwnOperationError for a declaration that is wrong */
export function toOperation(
  declaration: DeclaredOperation,
  { source, inlineRecords, eventsByName }: OperationContext,
): AnyOperation {
  const { id, method, path, access = "member", emit: eventOrName } = declaration;
  const createError = (problem: string) =>
    new OwnOperationError(`the operation ${String(id)} ${problem}`, { subject: id });
  if (typeof id !== "string" || !/^[\w-]+(\.[\w-]+)*$/.test(id))
    throw createError("needs an id such as notes.create");
  if (!METHODS.includes(method))
    throw createError(`has the method ${String(method)}; there are ${METHODS.join(", ")}`);
  if (typeof path !== "string" || !/^(\/([\w.~-]+|\{\w+\}))+$/.test(path) || path.startsWith("/_"))
    throw createError(`has the path ${JSON.stringify(path)}, which is not one such as /v1/notes/{note_id}`);
  if (typeof declaration.handle !== "function") throw createError("has no `handle`");
  for (const key of ["summary", "description"] as const)
    if (declaration[key] !== undefined && typeof declaration[key] !== "string")
      throw createError(`has the ${key} ${JSON.stringify(declaration[key])}, which is not a text`);
  const pathNames = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  const duplicate = pathNames.find((name, at) => pathNames.indexOf(name) < at);
  if (duplicate !== undefined) throw createError(`has the parameter ${duplicate} twice in its path`);
  const subject = { noun: "the operation", name: id };
  const { kind: _kind, ...options } = declaration;
  checkKeys(options, OPERATION_KEYS, subject);
  for (const key of ["params", "query", "body", "response"] as const) {
    const schemaOrFields = declaration[key];
    if (schemaOrFields === undefined) continue;
    const isObject = typeof schemaOrFields === "object" && schemaOrFields !== null;
    const hasFields = isObject && (key === "params" || key === "query");
    checkFields(
      hasFields ? schemaOrFields : { [key]: isObject ? toSchema(schemaOrFields) : schemaOrFields },
      subject,
    );
  }
  const undeclared = Object.keys(declaration.params ?? {}).find((name) => !pathNames.includes(name));
  if (undeclared !== undefined)
    throw createError(`declares the parameter ${undeclared}, which its path does not have`);
  checkParameters(declaration.params ?? {}, { allowsLists: false }, subject);
  checkParameters(declaration.query ?? {}, { allowsLists: true }, subject);
  const { status } = declaration;
  if (status !== undefined && !(Number.isInteger(status) && status >= 200 && status < 400))
    throw createError(`has the status ${JSON.stringify(status)}; that of a success is 200 to 399`);
  if (status !== undefined && isBodyless(status) && declaration.response !== undefined)
    throw createError(`has a response, and the status ${status}, which has no body`);
  const params = {
    ...Object.fromEntries(pathNames.map((name) => [name, Type.String({ minLength: 1 })])),
    ...declaration.params,
  };
  const { errors: codes = [] } = declaration;
  if (!Array.isArray(codes as unknown))
    throw createError(`has the errors ${JSON.stringify(codes)}, which are not a list`);
  const unknownCode = codes.find((code) => !Object.hasOwn(CATALOGUE, code));
  if (unknownCode !== undefined)
    throw createError(`has the error ${unknownCode}, which is not a code of the catalogue`);
  const uses = Object.entries(declaration.uses ?? {}).map(
    ([key, one]: [string, { name?: string } | undefined]) => {
      if (one?.name === key) return key;
      throw createError(`uses ${String(one?.name)} as ${key}; a collection has its own name in \`uses\``);
    },
  );
  const eventName = typeof eventOrName === "string" ? eventOrName : eventOrName?.name;
  const event = eventsByName.get(eventName ?? "");
  if (eventOrName !== undefined && event === undefined)
    throw createError(`emits ${eventName ?? JSON.stringify(eventOrName)}, which is not an event`);
  const { authorize, errors } = toAccess(access, pathNames, createError);
  const response = declaration.response && inlineRecords(toSchema(declaration.response));
  const body = declaration.body && inlineRecords(toSchema(declaration.body));
  // Its validator also adds the defaults of fields within objects and lists.
  if (body) provideValidator(body, () => makeAjv({ useDefaults: true }).compile(toPlainSchema(body)));
  const declaredOperation: AnyOperation = {
    id,
    section: "own",
    sourceFile: source.files?.get(declaration) ?? source.source,
    method,
    path,
    summary: declaration.summary || `Call ${id}`,
    ...(declaration.description && { description: declaration.description }),
    ...(pathNames.length > 0 && { params: toObject(params) }),
    ...(declaration.query && { query: toObject(declaration.query) }),
    ...(body && { body: { kind: "json" as const, schema: body } }),
    errors: [...new Set<DeclaredError>([...errors, ...codes])],
    success: toSuccesses(declaration.status, response),
    ...(uses.length > 0 && { uses }),
    ...(declaration.reads !== undefined && { reads: declaration.reads }),
    ...(access === "public" && { credentials: false }),
    access: authorize,
    handle: declaration.handle as AnyOperation["handle"],
  };
  return guardHandler(declaredOperation, event);
}

const OPERATION_KEYS =
  "id method path summary description params query body response status errors access uses emit reads handle".split(
    " ",
  );

function toSuccesses(status: number | undefined, response: TSchema | undefined): Success[] {
  if (response !== undefined) return [{ status: status ?? 200, schema: response }];
  return status === undefined
    ? [{ status: 200, schema: Type.Unknown() }, { status: 204 }]
    : [isBodyless(status) ? { status } : { status, schema: ANY_BODY_OR_NONE }];
}

type Authorize = NonNullable<AnyOperation["access"]>;

function toAccess(
  access: NonNullable<DeclaredOperation["access"]>,
  pathNames: readonly string[],
  createError: (problem: string) => OwnOperationError,
): { authorize: Authorize | undefined; errors: readonly DeclaredError[] } {
  if (typeof access === "function")
    return {
      authorize(call) {
        // The handler gets what `access` returns.
        const loaded = access(toHandlerCall(call));
        if (loaded === false) throw new ApiError("INSUFFICIENT_PERMISSIONS");
        return loaded;
      },
      errors: ["INSUFFICIENT_PERMISSIONS"],
    };
  if (access === "public" || access === "caller") return { authorize: undefined, errors: [] };
  const parameter = ["organization_id", "org_id"].find((name) => pathNames.includes(name));
  const getOrganization = (call: Call) =>
    parameter === undefined ? requireCurrentMember(call) : String((call.params as Fields)[parameter]);
  if (access === "member")
    return {
      authorize: (call) => void requireMember(call, getOrganization(call)),
      errors: parameter === undefined ? CURRENT_MEMBER_ERRORS : MEMBER_ERRORS,
    };
  if (access === "admin")
    return {
      authorize: (call) => void requireAdministrator(call, getOrganization(call)),
      errors: ADMINISTRATOR_ERRORS,
    };
  if (access === "owner")
    return { authorize: (call) => requireOwner(call, getOrganization(call)), errors: ADMINISTRATOR_ERRORS };
  const given = `has the access ${JSON.stringify(access)}`;
  throw createError(`${given}, not public, caller, member, admin, owner or a function`);
}

/** @throws ApiError those of `requireMember`, and INSUFFICIENT_PERMISSIONS */
function requireOwner(call: Call, organization_id: string): void {
  requireMember(call, organization_id);
  if (requireCaller(call).memberships[organization_id] !== "owner")
    throw new ApiError("INSUFFICIENT_PERMISSIONS", { details: { required_role: "owner" } });
}

function isSchema(value: object): boolean {
  if (Object.keys(value).length === 0) return true;
  return ["type", "anyOf", "x-record", "enum"].some(
    (key) => typeof (value as Fields)[key] === "string" || Array.isArray((value as Fields)[key]),
  );
}

/** @param value a schema, or the fields of an object */
function toSchema(value: object): TSchema {
  return isSchema(value) ? (value as TSchema) : toObject(value as Fields);
}

function toObject(fields: Fields): TObject {
  const required = Object.keys(fields).filter(
    (name) => (fields[name] as { "x-optional"?: true })["x-optional"] !== true,
  );
  return { type: "object", properties: fields, required } as unknown as TObject;
}
