import { ApiError } from "../../contract/errors.ts";
import { type Caller, isAdministrator, isMember, roleIn } from "../organizations/access.ts";
import { type MeetingSession, meetingSessions } from "./schema.ts";

type SessionCall = Caller & { params: { session_id: string } };

/** What `requireSession` refuses with. */
export const SESSION_ERRORS = ["SESSION_NOT_FOUND", "SESSION_ACCESS_DENIED"] as const;
/** What `requireManagedSession` refuses with. */
export const MANAGED_SESSION_ERRORS = [
  ...SESSION_ERRORS,
  { code: "INSUFFICIENT_PERMISSIONS", details: ["session_id"] },
] as const;

/**
 * The session of the path, for a member of its organization (4.1, G16).
 * @throws ApiError SESSION_NOT_FOUND, SESSION_ACCESS_DENIED
 */
export function requireSession(call: SessionCall): MeetingSession {
  const { session_id } = call.params;
  const session = call.world.get(meetingSessions, session_id);
  if (session === undefined) throw new ApiError("SESSION_NOT_FOUND", { details: { session_id } });
  if (!isMember(call, session.organization_id))
    throw new ApiError("SESSION_ACCESS_DENIED", {
      details: { session_id },
      reason: roleIn(call, session.organization_id),
    });
  return session;
}

/**
 * The same, for its owner and for owners and admins of its organization.
 * @throws ApiError also INSUFFICIENT_PERMISSIONS
 */
export function requireManagedSession(call: SessionCall): MeetingSession {
  const session = requireSession(call);
  if (session.owner_id !== call.principal.user_id && !isAdministrator(call, session.organization_id)) {
    throw new ApiError("INSUFFICIENT_PERMISSIONS", {
      details: { session_id: session.session_id },
      reason: `the session is ${session.owner_id}'s; ${roleIn(call, session.organization_id)}; its owner, or an owner or admin of the organization, is asked for`,
      system_message:
        "Only the session's owner, or an owner or admin of its organization, may stop or delete it.",
    });
  }
  return session;
}
