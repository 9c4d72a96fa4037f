import type { ApiError } from "../contract/errors.ts";
import type { Exchange } from "./exchange.ts";

const MAX_VALUE_LENGTH = 80;

/**
 * Why a request was refused, for the journal (interfaces 11): for a 404 what was looked for, for a 422 the field
 * and its rule, for a 403 what was missing. Why a credential was refused, `resources/auth` tells.
 */
export function refusalReason(error: ApiError, { method, path, stage }: Exchange): string {
  const { details, reason, status, system_message } = error;
  const wanted = Object.entries(details);
  if (stage === "route") return status === 405 ? `${path} does not answer ${method}` : system_message;
  if (status === 404 && wanted.length > 0) {
    const looked = wanted.map(([name, value]) => `${name} ${shown(value)}`).join(", ");
    return `looked for ${looked}: ${reason ?? "there is none that this caller may see"}`;
  }
  if (reason !== undefined) return reason;
  // The value is in the entry's request, with secrets masked by their field.
  const { field } = details;
  if (typeof field === "string") {
    const missing = details["value"] === null ? ", and was not sent or is null" : "";
    return `${error.message.replace(/\.$/, "")} (the field ${field}${missing})`;
  }
  const facts = wanted.map(([name, one]) => `${name} ${shown(one)}`).join(", ");
  return facts === "" ? system_message : `${system_message} (${facts})`;
}

function shown(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "nothing");
  return text.length > MAX_VALUE_LENGTH ? `${text.slice(0, MAX_VALUE_LENGTH - 1)}…` : text;
}
