import { isJsonObject, type JsonObject } from "../../engine/contract/schema.ts";

/** Puts a value at a place of the body, such as `meta.next`; the objects on the way are made. @returns the body */
export function putAt(body: JsonObject, place: string, value: unknown): JsonObject {
  const steps = place.split(".");
  let inside = body;
  for (const step of steps.slice(0, -1)) {
    if (!isJsonObject(inside[step])) inside[step] = {};
    inside = inside[step] as JsonObject;
  }
  inside[steps.at(-1)!] = value;
  return body;
}
