import { ApiError } from "../../contract/errors.ts";
import type { FactoryContext, RecordLookup } from "../../contract/factory.ts";
import type { Principal } from "../../contract/operation.ts";
import { requireFirstRecord } from "../../contract/references.ts";
import type { WorldReader } from "../../state/transaction.ts";
import { type User, users } from "../users/schema.ts";
import { type Organization, organizations } from "./schema.ts";

/** The part of a call that access depends on. */
export interface Caller {
  principal: Principal;
  world: WorldReader;
}

export function requireCaller({ principal, world }: Caller): User {
  const user = world.get(users, principal.user_id);
  if (user === undefined) throw new ApiError("AUTHENTICATION_REQUIRED");
  return user;
}

export const MEMBER_ERRORS = ["ORGANIZATION_NOT_FOUND", "ORGANIZATION_ACCESS_DENIED"] as const;
export const ADMINISTRATOR_ERRORS = [...MEMBER_ERRORS, "INSUFFICIENT_PERMISSIONS"] as const;

/**
 * Finds an organization for a member of it (G03).
 * @throws ApiError ORGANIZATION_NOT_FOUND, ORGANIZATION_ACCESS_DENIED
 */
export function requireMember(caller: Caller, organization_id: string): Organization {
  const organization = caller.world.get(organizations, organization_id);
  if (organization === undefined)
    throw new ApiError("ORGANIZATION_NOT_FOUND", { details: { organization_id } });
  if (!isMember(caller, organization_id)) {
    const reason = explainRefusal(caller, organization_id);
    throw new ApiError("ORGANIZATION_ACCESS_DENIED", { details: { organization_id }, reason });
  }
  return organization;
}

/**
 * Finds an organization for its owners and admins (G02).
 * @throws ApiError also INSUFFICIENT_PERMISSIONS
 */
export function requireAdministrator(caller: Caller, organization_id: string): Organization {
  const organization = requireMember(caller, organization_id);
  if (!isAdministrator(caller, organization_id)) {
    throw new ApiError("INSUFFICIENT_PERMISSIONS", {
      details: { required_role: "admin" },
      reason: explainRefusal(caller, organization_id, ADMINISTRATOR_ROLE),
    });
  }
  return organization;
}

export const CURRENT_MEMBER_ERRORS = ["ORGANIZATION_ACCESS_DENIED"] as const;

/**
 * Returns the id of the organization that the key acts in, if its user is a member: a key outlives the membership (G37).
 * @throws ApiError ORGANIZATION_ACCESS_DENIED
 */
export function requireCurrentMember(caller: Caller): string {
  const { organization_id } = caller.principal;
  if (isMember(caller, organization_id)) return organization_id;
  throw new ApiError("ORGANIZATION_ACCESS_DENIED", {
    system_message:
      "The key acts in an organization that its user is not a member of; choose another with PUT /v1/user/current-organization.",
    details: { organization_id },
    reason: `${explainRefusal(caller, organization_id)}, in which the key acts`,
  });
}

export const ADMINISTRATOR_ROLE = "the role owner or admin";

/** Explains for the journal which user is refused and what is missing; for a user from outside, the membership. */
export function explainRefusal(
  caller: Caller,
  organization_id: string,
  requirement = "another role",
): string {
  const { id, memberships } = requireCaller(caller);
  const missing = Object.hasOwn(memberships, organization_id)
    ? `${requirement} in ${organization_id} (has the role ${memberships[organization_id]})`
    : `to be a member of ${organization_id}`;
  return `${id} is not allowed to do this: needs ${missing}`;
}

export function isMember(caller: Caller, organization_id: string): boolean {
  return Object.hasOwn(requireCaller(caller).memberships, organization_id);
}

export function isAdministrator(caller: Caller, organization_id: string): boolean {
  return hasAdministratorRole(requireCaller(caller), organization_id);
}

export function hasAdministratorRole({ memberships }: User, organization_id: string): boolean {
  const role = Object.hasOwn(memberships, organization_id) ? memberships[organization_id] : undefined;
  return role === "owner" || role === "admin";
}

/** Owners and admins have every capability (G02). */
export function hasCapability(caller: Caller, organization_id: string, capability: string): boolean {
  if (isAdministrator(caller, organization_id)) return true;
  const { capabilities } = requireCaller(caller);
  return Object.hasOwn(capabilities, organization_id) && capabilities[organization_id]!.includes(capability);
}

/**
 * Chooses the organization of a new record: the given one, unchecked, else that in which its creator acts, else the first.
 * @throws ApiError INVALID_INPUT if there is none
 */
export function chooseOrganization(
  context: Pick<FactoryContext, "world"> & Partial<FactoryContext>,
  organization_id = context.actor_organization_id,
): string {
  return organization_id ?? requireFirstRecord(context, organizations, "organization_id").id;
}

/** The author of records, and the actor of log entries, if there is no user. */
export const SYSTEM_USER_ID = "usr_system";

/** The owner of an organization, else a member. */
export function findOwnerOrMember(world: RecordLookup, organization_id: string): User | undefined {
  return (
    world.index(users, "by_owned_organization", organization_id).first() ??
    world.index(users, "by_organization", organization_id).first()
  );
}

/** Finds a default author for an organization: its owner, else a member, else the first user, else the system. */
export function findAuthor(world: RecordLookup, organization_id: string): string {
  const user = findOwnerOrMember(world, organization_id) ?? world.all(users).first();
  return user?.id ?? SYSTEM_USER_ID;
}
