import Type from "typebox";
import { belongsTo } from "../../contract/references.ts";
import { collection } from "../../state/collection.ts";
import type { WorldReader } from "../../state/transaction.ts";
import { organizations } from "../organizations/schema.ts";

export interface FixtureFact {
  id: string;
  organization_id: string;
}

/** What a table sorted by id forgets: which organization the fixture named first. */
export const fixtureFacts = collection<FixtureFact>({
  name: "_fixture_facts",
  prefix: "",
  idField: "id",
  internal: true,
  schema: Type.Object({ id: Type.String(), organization_id: Type.String(belongsTo("organizations")) }),
});

/** The organization of an event that says nothing of one (interfaces 4); undefined where there is none. */
export function defaultOrganization(world: WorldReader): string | undefined {
  const first = world.get(fixtureFacts, "first_organization")?.organization_id;
  if (first !== undefined && world.get(organizations, first) !== undefined) return first;
  return world.all(organizations).page(0, 1)[0]?.id;
}
