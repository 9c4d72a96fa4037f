import isEqual from "fast-deep-equal";
import { invalidInput } from "../../engine/contract/errors.ts";
import { toSteps } from "../../engine/contract/invalid-field.ts";
import { isJsonObject, type JsonObject } from "../../engine/contract/schema.ts";

export const JSON_PATCH = "application/json-patch+json";

/** Applies a JSON patch (RFC 6902) to a copy. @throws ApiError INVALID_INPUT that names the part of the patch */
export function applyPatch(document: JsonObject, patch: readonly unknown[]): unknown {
  // The whole document is a value like those in it.
  const holder: JsonObject = { document: structuredClone(document) };
  for (const [position, step] of patch.entries())
    new PatchStep(holder, isJsonObject(step) ? step : {}, position).apply();
  return holder["document"];
}

class PatchStep {
  private readonly holder: JsonObject;
  private readonly step: JsonObject;
  private readonly position: number;

  constructor(holder: JsonObject, step: JsonObject, position: number) {
    this.holder = holder;
    this.step = step;
    this.position = position;
  }

  apply(): void {
    const { op, value } = this.step;
    if (["add", "replace", "test"].includes(op as string) && value === undefined)
      throw this.refuse("value", "is required");
    if (op === "add") this.insert(value);
    else if (op === "remove") this.removeValue("path");
    else if (op === "replace") {
      this.removeValue("path");
      this.insert(value);
    } else if (op === "move") this.insert(this.removeValue("from"));
    else if (op === "copy") this.insert(structuredClone(read(...this.locate("from"))));
    else if (op !== "test") throw this.refuse("op", "must be add, remove, replace, move, copy or test");
    else if (!isEqual(read(...this.locate("path")), value))
      throw this.refuse("value", "is not the value at the path");
  }

  private insert(value: unknown): void {
    const [parent, name] = this.locate("path", { isNew: true });
    if (Array.isArray(parent)) parent.splice(name === "-" ? parent.length : Number(name), 0, value);
    else parent[name] = value;
  }

  private removeValue(key: "path" | "from"): unknown {
    const [parent, name] = this.locate(key);
    if (Array.isArray(parent)) return parent.splice(Number(name), 1)[0];
    const value = parent[name];
    delete parent[name];
    return value;
  }

  private locate(
    key: "path" | "from",
    { isNew = false } = {},
  ): [parent: JsonObject | unknown[], name: string] {
    const pointer = this.step[key];
    if (typeof pointer !== "string" || (pointer !== "" && !pointer.startsWith("/")))
      throw this.refuse(key, 'must be a JSON pointer such as "/title"');
    const steps = ["document", ...toSteps(pointer)];
    const name = steps.pop()!;
    let parent: unknown = this.holder;
    for (const one of steps) parent = read(parent, one);
    const exists = read(parent, name) !== undefined;
    if (Array.isArray(parent)) {
      if (exists || (isNew && (name === "-" || name === String(parent.length)))) return [parent, name];
    } else if (isJsonObject(parent) && (exists || (isNew && name !== "__proto__"))) return [parent, name];
    throw this.refuse(key, "names nothing");
  }

  private refuse(key: string, reason: string): Error {
    const field = `[${this.position}].${key}`;
    return invalidInput(field, this.step[key] ?? null, `${field} ${reason}`);
  }
}

function read(parent: unknown, name: string): unknown {
  if (Array.isArray(parent)) return /^(0|[1-9]\d*)$/.test(name) ? parent[Number(name)] : undefined;
  return isJsonObject(parent) && Object.hasOwn(parent, name) ? parent[name] : undefined;
}
