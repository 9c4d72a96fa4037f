import { aboutRecords, event } from "../../contract/event.ts";
import { makeUser } from "./fixtures.ts";
import { users } from "./schema.ts";

const user = {
  section: "6.1",
  assumptions: ["G25"],
  about: aboutRecords(users, {
    id: "user_id",
    heardBy: ({ memberships }) => Object.keys(memberships),
    invent: (given, context) => makeUser({ verified: true, ...given }, context),
  }),
  data: ["user_id", "name", "email", "account", "verified", "created_at"],
} as const;

/** 6.2 shows these three fields and no more. */
export const userCreated = event({
  name: "user.created",
  section: "6.2",
  summary: "A user was created",
  about: user.about,
  data: ["user_id", "email", "created_at"],
  fresh: true,
});

export const userUpdated = event({ ...user, name: "user.updated", summary: "A user was changed" });

export const userDeleted = event({ ...user, name: "user.deleted", summary: "A user was deleted" });

export const userVerified = event({
  ...user,
  name: "user.verified",
  summary: "A user's e-mail address was verified",
  implies: { verified: true },
});

export const USER_EVENTS = [userCreated, userUpdated, userDeleted, userVerified] as const;
