import { invalidInput, resourceNotFound } from "../../contract/errors.ts";
import { type Caller, CURRENT_MEMBER_ERRORS, requireCurrentMember } from "../organizations/access.ts";
import { type Webhook, webhooks } from "./schema.ts";

/** What `requireWebhook` refuses with. */
export const WEBHOOK_ERRORS = [...CURRENT_MEMBER_ERRORS, "RESOURCE_NOT_FOUND"] as const;

/** G23: of the organization that the key acts in. @throws ApiError RESOURCE_NOT_FOUND also for a webhook of another organization (G23) */
export function requireWebhook(caller: Caller, webhook_id: string): Webhook {
  const organization_id = requireCurrentMember(caller);
  const webhook = caller.world.get(webhooks, webhook_id);
  if (webhook?.organization_id !== organization_id) throw resourceNotFound("webhook_id", webhook_id);
  return webhook;
}

/**
 * What the URL's pattern cannot tell: that it parses, and holds no credentials (G23).
 * @throws ApiError INVALID_INPUT
 */
export function requireCallable(url: string): void {
  if (!URL.canParse(url)) throw invalidInput("url", url, "url must be an absolute http or https URL");
  const { username, password } = new URL(url);
  if (username !== "" || password !== "") {
    throw invalidInput("url", url, "url must not contain credentials");
  }
}
