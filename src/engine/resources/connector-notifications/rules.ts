import { invalidInput } from "../../contract/errors.ts";
import type { WorldReader } from "../../state/transaction.ts";
import {
  connectorNotifications,
  NOTIFICATION_TYPES,
  type NotificationConfig,
  type NotificationRule,
} from "./schema.ts";

const ADDRESS = { webhook: "url", email: "email" } as const;

/**
 * Rules as they are kept: known fields only, each with the one address of its type.
 * @throws ApiError INVALID_INPUT naming the field, such as `notifications[0].url`
 */
export function soundRules(rules: readonly NotificationRule[]): NotificationRule[] {
  return rules.map(({ type, url, email, events }, position) => {
    const field = (name: string) => `notifications[${position}].${name}`;
    for (const other of NOTIFICATION_TYPES) {
      const address = { url, email }[ADDRESS[other]];
      if (other !== type && address !== undefined)
        throw invalidInput(field(ADDRESS[other]), address, `a rule of type ${type} has none`);
    }
    if ({ url, email }[ADDRESS[type]] === undefined)
      throw invalidInput(field(ADDRESS[type]), null, `a rule of type ${type} needs one`);
    if (type === "webhook") requireCallable(field("url"), url!);
    return type === "webhook" ? { type, url, events: [...events] } : { type, email, events: [...events] };
  });
}

/** What the pattern of a URL cannot tell. @throws ApiError INVALID_INPUT */
export function requireCallable(field: string, url: string): void {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !["http:", "https:"].includes(parsed.protocol))
    throw invalidInput(field, url, `${field} must be an absolute http or https URL`);
  if (parsed.username !== "" || parsed.password !== "")
    throw invalidInput(field, url, `${field} must not contain credentials`);
}

/** An organization that never set any has none. */
export function configOf(world: WorldReader, organization_id: string): NotificationConfig {
  return (
    world.get(connectorNotifications, organization_id) ?? {
      organization_id,
      notifications: [],
      updated_at: null,
    }
  );
}
