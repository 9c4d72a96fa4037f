import { invalidInput } from "../../contract/errors.ts";
import { aboutRecords, emit, event } from "../../contract/event.ts";
import type { StateActor, StateRules } from "../../contract/resource.ts";
import type { Transaction } from "../../state/transaction.ts";
import { recordStateAudit, toAuditValues } from "../audit-logs/rules.ts";
import { makeUser } from "./fixtures.ts";
import { type User, users } from "./schema.ts";

const userEvent = {
  section: "6.1",
  assumptions: ["G25"],
  about: aboutRecords(users, {
    id: "user_id",
    listRecipients: ({ memberships }) => Object.keys(memberships),
    invent: (fields, context) => makeUser({ verified: true, ...fields }, context),
  }),
  data: ["user_id", "name", "email", "account", "verified", "created_at"],
} as const;

/** Its data has the three fields that 6.2 shows. */
const userCreated = event({
  name: "user.created",
  section: "6.2",
  summary: "A user was created",
  about: userEvent.about,
  data: ["user_id", "email", "created_at"],
  createsSubject: true,
});

const userUpdated = event({ ...userEvent, name: "user.updated", summary: "A user was changed" });

const userDeleted = event({ ...userEvent, name: "user.deleted", summary: "A user was deleted" });

const userVerified = event({
  ...userEvent,
  name: "user.verified",
  summary: "A user's e-mail address was verified",
  implies: { verified: true },
});

export const USER_EVENTS = [userCreated, userUpdated, userDeleted, userVerified] as const;

type UserEvent = (typeof USER_EVENTS)[number];

interface UserChange {
  tx: Transaction;
  actor: StateActor;
  user: User;
}

/** Only state calls create and delete users (G18); each organization of the user gets the event. */
export const userStateRules: StateRules<User> = {
  insert(tx, record, actor) {
    requireMembershipForCapabilities(record);
    tx.insert(users, record);
    for (const organization_id of Object.keys(record.memberships)) {
      emitUnlessSilent({ tx, actor, user: record }, organization_id, userCreated);
      recordUserAudit({ tx, actor, user: record }, organization_id, "created");
    }
    return record;
  },
  update(tx, before, after, actor) {
    requireMembershipForCapabilities(after);
    tx.put(users, after);
    const change = { tx, actor, user: after };
    // No field differs.
    if (toAuditValues(before, after) === undefined) return after;
    // Changes of these fields have audit entries of their own.
    const profileValues = toAuditValues(before, after, ["memberships", "capabilities", "account"]);
    const becameVerified = after.verified && !before.verified;
    const isOnlyVerified = becameVerified && toAuditValues(before, after, ["verified"]) === undefined;
    for (const organization_id of listOrganizations(before, after)) {
      if (becameVerified) emitUnlessSilent(change, organization_id, userVerified);
      if (!isOnlyVerified) emitUnlessSilent(change, organization_id, userUpdated);
      if (profileValues !== undefined) recordUserAudit(change, organization_id, "updated", profileValues);
      if (after.account !== before.account) recordAccountAudit(change, organization_id, before);
      recordRoleAudit(change, organization_id, before);
      recordCapabilityAudit(change, organization_id, before);
    }
    return after;
  },
  remove(tx, record, actor) {
    for (const organization_id of Object.keys(record.memberships)) {
      emitUnlessSilent({ tx, actor, user: record }, organization_id, userDeleted);
      recordUserAudit({ tx, actor, user: record }, organization_id, "deleted");
    }
  },
};

function requireMembershipForCapabilities({ memberships, capabilities }: User): void {
  for (const id of Object.keys(capabilities)) {
    if (!Object.hasOwn(memberships, id))
      throw invalidInput(
        `capabilities.${id}`,
        capabilities[id],
        "the user is not a member of this organization",
      );
  }
}

function listOrganizations(before: User, after: User): string[] {
  return [...new Set([...Object.keys(before.memberships), ...Object.keys(after.memberships)])];
}

function emitUnlessSilent({ tx, actor, user }: UserChange, organization_id: string, event: UserEvent): void {
  if (!actor.silent) emit(tx, event, user, [organization_id]);
}

function recordUserAudit(
  { tx, actor, user }: UserChange,
  organization_id: string,
  action: string,
  values?: { previous_value: string; new_value: string },
): void {
  const entry = { organization_id, entity_type: "user" as const, entity_id: user.id, entity_name: user.name };
  recordStateAudit(tx, actor, { ...entry, action, ...values });
}

/** Records a changed account status; 4.15 calls a suspended or disabled user deactivated. */
function recordAccountAudit(change: UserChange, organization_id: string, before: User): void {
  const { account } = change.user;
  const inactiveAction = before.account === "active" ? "deactivated" : "updated";
  recordUserAudit(change, organization_id, account === "active" ? "reactivated" : inactiveAction, {
    previous_value: before.account,
    new_value: account,
  });
}

/** Records that a role in one organization was gained or lost (G31); a changed role is both. */
function recordRoleAudit({ tx, actor, user }: UserChange, organization_id: string, before: User): void {
  const roleBefore = before.memberships[organization_id];
  const roleAfter = user.memberships[organization_id];
  if (roleBefore === roleAfter) return;
  const entry = {
    organization_id,
    entity_type: "role_assignment" as const,
    entity_id: user.id,
    target_id: user.id,
    target_name: user.name,
  };
  if (roleBefore !== undefined)
    recordStateAudit(tx, actor, {
      ...entry,
      entity_name: roleBefore,
      action: "unassigned",
      previous_value: roleBefore,
    });
  if (roleAfter !== undefined)
    recordStateAudit(tx, actor, {
      ...entry,
      entity_name: roleAfter,
      action: "assigned",
      new_value: roleAfter,
    });
}

/** Records granted and denied capabilities, which 4.15 calls permissions. */
function recordCapabilityAudit({ tx, actor, user }: UserChange, organization_id: string, before: User): void {
  const capabilitiesBefore = before.capabilities[organization_id] ?? [];
  const capabilitiesAfter = user.capabilities[organization_id] ?? [];
  for (const name of new Set([...capabilitiesBefore, ...capabilitiesAfter])) {
    if (capabilitiesBefore.includes(name) === capabilitiesAfter.includes(name)) continue;
    const [previous_value, new_value] = capabilitiesAfter.includes(name)
      ? ["denied", "granted"]
      : ["granted", "denied"];
    recordStateAudit(tx, actor, {
      organization_id,
      entity_type: "permission",
      entity_id: `perm_${name.replaceAll("-", "_")}`,
      entity_name: name,
      action: "updated",
      target_id: user.id,
      target_name: user.name,
      previous_value,
      new_value,
    });
  }
}
