import { ControlError } from "./fetch-control.ts";

/**
 * What was typed as JSON, as a value.
 * @throws ControlError as the server would refuse it, at the field that it was typed into
 */
export function parsedJson(text: string, field: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw notJson(field, "This");
  }
}

/** `what` begins the sentence. */
export function notJson(field: string, what: string): ControlError {
  const detail = `${what} is not valid JSON yet; nothing was sent.`;
  return new ControlError(422, detail, {
    type: "urn:understudy:problem:invalid-json",
    title: "Not JSON",
    status: 422,
    detail,
    field,
  });
}
