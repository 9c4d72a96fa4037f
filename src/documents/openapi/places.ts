import { isJson, type Json } from "./open-document.ts";

/** A value at a place such as `meta.next`; the objects on the way are made. An empty place is the value itself. */
export function putAt(body: Json, place: string, value: unknown): Json {
  const steps = place.split(".");
  let inside = body;
  for (const step of steps.slice(0, -1)) {
    if (!isJson(inside[step])) inside[step] = {};
    inside = inside[step] as Json;
  }
  inside[steps.at(-1)!] = value;
  return body;
}
