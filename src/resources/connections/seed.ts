import Type, { type Static } from "typebox";
import type { BaseBuilder, FixtureData, FixtureReader } from "../../contract/resource.ts";
import { Id, Timestamp } from "../../contract/schema.ts";
import type { Random } from "../../state/random.ts";
import { entriesOf, firstOrganization, generatedId } from "../organizations/of-fixture.ts";
import { type Connection, connections } from "./schema.ts";

const DAY = 86_400_000;
const TOOLKITS = ["drive", "wiki", "tickets", "mail", "chat", "crm", "notes", "calendar"] as const;

const ConnectionEntry = Type.Object(
  {
    id: Id("conn_"),
    organization_id: Type.Optional(Id("org_")),
    name: Type.Optional(Type.String({ minLength: 1 })),
    toolkit: Type.Optional(Type.String({ minLength: 1 })),
    created_at: Type.Optional(Timestamp()),
  },
  { additionalProperties: false },
);
type Entry = Static<typeof ConnectionEntry>;

export const connectionsFixture: FixtureReader = {
  keys: { connections: Type.Array(ConnectionEntry) },
  seed(fixture, base) {
    base.fill(connections, () =>
      connectionEntries(fixture).map((entry) => connectionOf(entry, fixture, base)),
    );
  },
};

export function connectionEntries(fixture: FixtureData): readonly Entry[] {
  return entriesOf<Entry>(fixture, "connections", (n) => ({ id: generatedId("conn_", n) }));
}

function connectionOf(entry: Entry, fixture: FixtureData, base: BaseBuilder): Connection {
  const random = base.random("connections", entry.id);
  const toolkit = entry.toolkit ?? toolkitFor(entry.id, random);
  return {
    id: entry.id,
    organization_id: entry.organization_id ?? firstOrganization(fixture),
    name: entry.name ?? nameFor(toolkit, random),
    toolkit,
    created_at: entry.created_at ? base.instant(entry.created_at) : -random.int(10, 200) * DAY,
  };
}

/** `conn_drive` says what it connects to. */
export function toolkitFor(id: string, random: Random): string {
  return TOOLKITS.find((toolkit) => id.includes(toolkit)) ?? random.pick(TOOLKITS);
}

export function nameFor(toolkit: string, random: Random): string {
  const place = random.pick(["Company", "Shared", "Team", "Product"]);
  return `${place} ${toolkit}`;
}
