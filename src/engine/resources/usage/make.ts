import type { Factory, RecordLookup } from "../../contract/factory.ts";
import { firstRecord } from "../../contract/references.ts";
import { apiKeys } from "../api-keys/schema.ts";
import { organizations } from "../organizations/schema.ts";
import { emptyUsage, type Usage, usage, usageId } from "./schema.ts";

/** A row without limits or spending, for whom its id or its fields name. */
export const makeUsage: Factory<Usage> = (given, { world }) => {
  const [organization, key = null] = given.id?.split(":") ?? [];
  const named = given.organization_id ?? organization;
  const { organization_id, api_key_id } =
    named === undefined
      ? freePlace(world, given.api_key_id)
      : { organization_id: named, api_key_id: given.api_key_id === undefined ? key : given.api_key_id };
  const name = api_key_id === null ? undefined : world.get(apiKeys, api_key_id)?.name;
  return {
    ...emptyUsage(organization_id, api_key_id),
    ...(name !== undefined && { api_key_name: name }),
    ...given,
  };
};

/** Where a row that names no organization goes: to that of the key it names, or of one without a row. */
function freePlace(world: RecordLookup, api_key_id: string | null | undefined) {
  const candidates = api_key_id ? [world.get(apiKeys, api_key_id)] : world.all(apiKeys);
  for (const key of api_key_id === null ? [] : candidates) {
    if (key && world.get(usage, usageId(key.current, key.id)) === undefined)
      return { organization_id: key.current, api_key_id: key.id };
  }
  return {
    organization_id: firstRecord(world, organizations, "organization_id").id,
    api_key_id: api_key_id ?? null,
  };
}
