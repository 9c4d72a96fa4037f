import { invalidInput } from "../../engine/contract/errors.ts";
import { toSteps } from "../../engine/contract/invalid-field.ts";
import { isJsonObject, type JsonObject } from "../../engine/contract/schema.ts";
import { isEqual } from "../../engine/maps.ts";

/** Applies a JSON patch (RFC 6902) to a copy. @throws ApiError INVALID_INPUT that names the part of the patch */
export function applyPatch(document: JsonObject, patch: readonly unknown[]): unknown {
  // The document is a property, so that a patch can replace the document like any value in it.
  const holder: JsonObject = { document: structuredClone(document) };
  for (const [position, operation] of patch.entries())
    applyOperation(holder, isJsonObject(operation) ? operation : {}, position);
  return holder["document"];
}

function applyOperation(holder: JsonObject, operation: JsonObject, position: number): void {
  const createError = (key: string, reason: string) => {
    const field = `[${position}].${key}`;
    return invalidInput(field, operation[key] ?? null, `${field} ${reason}`);
  };
  const locate = (
    key: "path" | "from",
    { mayBeNew = false } = {},
  ): [JsonObject | unknown[], name: string] => {
    const pointer = operation[key];
    if (typeof pointer !== "string" || (pointer !== "" && !pointer.startsWith("/")))
      throw createError(key, 'must be a JSON pointer such as "/title"');
    const segments = ["document", ...toSteps(pointer)];
    const name = segments.pop()!;
    let parent: unknown = holder;
    for (const one of segments) parent = read(parent, one);
    const exists = read(parent, name) !== undefined;
    if (Array.isArray(parent)) {
      if (exists || (mayBeNew && (name === "-" || name === String(parent.length)))) return [parent, name];
    } else if (isJsonObject(parent) && (exists || (mayBeNew && name !== "__proto__"))) return [parent, name];
    throw createError(key, "names nothing");
  };
  const insert = (value: unknown) => {
    const [parent, name] = locate("path", { mayBeNew: true });
    if (Array.isArray(parent)) parent.splice(name === "-" ? parent.length : Number(name), 0, value);
    else parent[name] = value;
  };
  const remove = (key: "path" | "from"): unknown => {
    const [parent, name] = locate(key);
    if (Array.isArray(parent)) return parent.splice(Number(name), 1)[0];
    const value = parent[name];
    delete parent[name];
    return value;
  };
  const { op, value } = operation;
  if (["add", "replace", "test"].includes(op as string) && value === undefined)
    throw createError("value", "is required");
  if (op === "add") insert(value);
  else if (op === "remove") remove("path");
  else if (op === "replace") {
    remove("path");
    insert(value);
  } else if (op === "move") insert(remove("from"));
  else if (op === "copy") insert(structuredClone(read(...locate("from"))));
  else if (op !== "test") throw createError("op", "must be add, remove, replace, move, copy or test");
  else if (!isEqual(read(...locate("path")), value))
    throw createError("value", "is not the value at the path");
}

function read(parent: unknown, name: string): unknown {
  if (Array.isArray(parent)) return /^(0|[1-9]\d*)$/.test(name) ? parent[Number(name)] : undefined;
  return isJsonObject(parent) && Object.hasOwn(parent, name) ? parent[name] : undefined;
}
