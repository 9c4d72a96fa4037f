import type { ApiError } from "../contract/errors.ts";
import type { Exchange } from "./exchange.ts";

const MAX_VALUE_LENGTH = 80;

/**
 * Why a request was refused, for the journal (interfaces 11): for a 404 the id that was not found, for a 422 the field
 * and its rule, for a 403 the missing role. `resources/auth` says why a credential was refused.
 */
export function findRefusalReason(error: ApiError, { method, path, step }: Exchange): string {
  const { details, reason, status, system_message } = error;
  const wanted = Object.entries(details);
  if (step === "route") return status === 405 ? `${path} does not answer ${method}` : system_message;
  if (status === 404 && wanted.length > 0) {
    const missing = wanted.map(([name, value]) => `${name} ${toText(value)}`).join(", ");
    return `${missing} was not found: ${reason ?? "it does not exist, or the caller has no access to it"}`;
  }
  if (reason !== undefined) return reason;
  // The value is in the entry's request, with secrets masked by their field.
  const { field } = details;
  if (typeof field === "string") {
    const missing = details["value"] === null ? ", not sent or null" : "";
    return `${error.message.replace(/\.$/, "")} (field ${field}${missing})`;
  }
  const facts = wanted.map(([name, one]) => `${name} ${toText(one)}`).join(", ");
  return facts === "" ? system_message : `${system_message} (${facts})`;
}

function toText(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "nothing");
  return text.length > MAX_VALUE_LENGTH ? `${text.slice(0, MAX_VALUE_LENGTH - 1)}…` : text;
}
