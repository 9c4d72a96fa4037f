import { invalidInput } from "../../contract/errors.ts";
import { aboutRecords, emit, event } from "../../contract/event.ts";
import type { StateActor, StateRules } from "../../contract/resource.ts";
import { isEqual } from "../../maps.ts";
import type { Transaction } from "../../state/transaction.ts";
import {
  type AuditChange,
  makeAccountChange,
  makeCapabilityChange,
  makeChange,
} from "../audit-logs/log-changes.ts";
import { recordStateAudit, toAuditValues } from "../audit-logs/rules.ts";
import { makeUser } from "./fixtures.ts";
import { type User, users } from "./schema.ts";

const userEvent = {
  section: "6.1",
  assumptions: ["G25"],
  about: aboutRecords(users, {
    id: "user_id",
    listOrganizations: ({ memberships }) => Object.keys(memberships),
    invent: (fields, context) => makeUser({ verified: true, ...fields }, context),
  }),
  data: ["user_id", "name", "email", "account", "verified", "created_at"],
} as const;

/** Its data has the three fields that section 6.2 shows. */
const userCreated = event({
  name: "user.created",
  section: "6.2",
  summary: "A user was created",
  about: userEvent.about,
  data: ["user_id", "email", "created_at"],
  isAboutCreation: true,
});

const userUpdated = event({ ...userEvent, name: "user.updated", summary: "A user was changed" });

const userDeleted = event({ ...userEvent, name: "user.deleted", summary: "A user was deleted" });

const userVerified = event({
  ...userEvent,
  name: "user.verified",
  summary: "A user's e-mail address was verified",
  fixedData: { verified: true },
});

export const USER_EVENTS = [userCreated, userUpdated, userDeleted, userVerified] as const;

/**
 * Only state calls create and delete users (G18); each organization of the user gets the event. A silent call has neither
 * events nor audit entries (`recordStateAudit`).
 */
export const userStateRules: StateRules<User> = {
  insert(tx, record, actor) {
    requireMembershipForCapabilities(record);
    tx.insert(users, record);
    if (!actor.silent) emit(tx, userCreated, record);
    recordInEachLog(tx, actor, record, "created");
    return record;
  },
  update(tx, before, changed, actor) {
    // Only a change that leaves the capabilities alone may remove some; one that sets them is checked as it is.
    const after = changed.capabilities === before.capabilities ? removeLostCapabilities(changed) : changed;
    requireMembershipForCapabilities(after);
    tx.put(users, after);
    if (isEqual(before, after)) return after;
    const becameVerified = after.verified && !before.verified;
    const isOnlyVerified = becameVerified && isEqual({ ...before, verified: true }, after);
    const events = [...(becameVerified ? [userVerified] : []), ...(isOnlyVerified ? [] : [userUpdated])];
    for (const organization_id of new Set([before, after].flatMap((user) => Object.keys(user.memberships)))) {
      if (!actor.silent) for (const declared of events) emit(tx, declared, after, [organization_id]);
      for (const change of listAuditChanges(before, after, organization_id))
        recordStateAudit(tx, actor, organization_id, change);
    }
    return after;
  },
  beforeRemove(tx, record, actor) {
    if (!actor.silent) emit(tx, userDeleted, record);
    recordInEachLog(tx, actor, record, "deleted");
  },
};

/** A user who leaves an organization loses the capabilities there. */
function removeLostCapabilities(after: User): User {
  const entries = Object.entries(after.capabilities);
  const remaining = entries.filter(([id]) => Object.hasOwn(after.memberships, id));
  if (remaining.length === entries.length) return after;
  return { ...after, capabilities: Object.fromEntries(remaining) };
}

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

/** Records the creation or deletion of a user in the log of each of their organizations. */
function recordInEachLog(tx: Transaction, actor: StateActor, user: User, action: string): void {
  for (const organization_id of Object.keys(user.memberships))
    recordStateAudit(tx, actor, organization_id, makeChange("user", action, user));
}

/** The entries of a changed user in one organization (G31). */
function listAuditChanges(before: User, after: User, organization_id: string): AuditChange[] {
  // Changes of these fields have entries of their own.
  const values = toAuditValues(before, after, ["memberships", "capabilities", "account"]);
  return [
    ...(values === undefined ? [] : [makeChange("user", "updated", after, values)]),
    ...(after.account === before.account ? [] : [makeAccountChange(after, before.account, after.account)]),
    ...listRoleChanges(before, after, organization_id),
    ...listCapabilityChanges(before, after, organization_id),
  ];
}

/** Lists the loss and the gain of a role; a changed role is both. */
function listRoleChanges(before: User, after: User, organization_id: string): AuditChange[] {
  const [lost, gained] = [before.memberships[organization_id], after.memberships[organization_id]];
  if (lost === gained) return [];
  const makeRoleChange = (action: string, name: string, values: Partial<AuditChange>) =>
    makeChange("role_assignment", action, { id: after.id, name }, { target: after, ...values });
  return [
    ...(lost === undefined ? [] : [makeRoleChange("unassigned", lost, { previous_value: lost })]),
    ...(gained === undefined ? [] : [makeRoleChange("assigned", gained, { new_value: gained })]),
  ];
}

function listCapabilityChanges(before: User, after: User, organization_id: string): AuditChange[] {
  const former = before.capabilities[organization_id] ?? [];
  const current = after.capabilities[organization_id] ?? [];
  return [...new Set([...former, ...current])]
    .filter((name) => former.includes(name) !== current.includes(name))
    .map((name) => makeCapabilityChange(name, after, current.includes(name)));
}
