import type { Factory } from "../../contract/factory.ts";
import { organizations } from "../organizations/schema.ts";
import type { User } from "./schema.ts";

const DAY_MS = 86_400_000;
const FIRST_NAMES = [
  "Alma",
  "Bela",
  "Chidi",
  "Dora",
  "Emil",
  "Freya",
  "Goran",
  "Hedda",
  "Imre",
  "Jonas",
  "Kaya",
  "Lior",
];
const LAST_NAMES = [
  "Abiola",
  "Berg",
  "Costa",
  "Dube",
  "Engel",
  "Fischer",
  "Greco",
  "Hassan",
  "Ito",
  "Jansen",
  "Kovacs",
];

/** A fixture's people belong where it says; who comes later joins the first organization and is to be verified. */
export const makeUser: Factory<User> = (given, context) => {
  const { random, world, past, now } = context;
  const name = given.name ?? `${random.pick(FIRST_NAMES)} ${random.pick(LAST_NAMES)}`;
  const home = past ? undefined : world.all(organizations).first();
  return {
    id: given.id ?? context.newId("usr_"),
    name,
    email: given.email ?? emailFor(name),
    memberships: given.memberships ?? (home === undefined ? {} : { [home.id]: "member" }),
    capabilities: given.capabilities ?? {},
    account: given.account ?? "active",
    verified: given.verified ?? past,
    created_at: given.created_at ?? (past ? -random.int(60, 400) * DAY_MS : now),
  };
};

function emailFor(name: string): string {
  return `${name.toLowerCase().replaceAll(/[^a-z]+/g, ".")}@example.test`;
}
