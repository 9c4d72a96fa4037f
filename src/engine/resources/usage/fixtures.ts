import { Type } from "typebox";
import type { Factory, RecordLookup } from "../../contract/factory.ts";
import { createEntryFormat, type FixtureEntry } from "../../contract/fixture-entry.ts";
import { keysBelongTo } from "../../contract/references.ts";
import type { BaseBuilder, FixtureReader } from "../../contract/resource.ts";
import { MapOf } from "../../contract/schema.ts";
import { apiKeys } from "../api-keys/schema.ts";
import { chooseOrganization } from "../organizations/access.ts";
import { ByOrganization } from "../organizations/schema.ts";
import { toMicro } from "./rules.ts";
import { createEmptyUsage, toUsageId, type Usage, UsageRecord, usage } from "./schema.ts";

/** Makes a row of usage, by default without limits and spending; its id or fields name the organization and key. */
export const makeUsage: Factory<Usage> = (fields, { world }) => {
  const [organizationInId, keyInId = null] = fields.id?.split(":") ?? [];
  const givenOrganization = fields.organization_id ?? organizationInId;
  const { organization_id, api_key_id } =
    givenOrganization === undefined
      ? chooseOwner(world, fields.api_key_id)
      : {
          organization_id: givenOrganization,
          api_key_id: fields.api_key_id === undefined ? keyInId : fields.api_key_id,
        };
  const name = api_key_id === null ? undefined : world.get(apiKeys, api_key_id)?.name;
  return {
    ...createEmptyUsage(organization_id, api_key_id),
    ...(name !== undefined && { api_key_name: name }),
    ...fields,
  };
};

/**
 * Chooses the owner of a row that names no organization: the given key or, if none is given, the first key that has no
 * row yet, in its current organization. For a null key, or if no key fits, the first organization.
 */
function chooseOwner(world: RecordLookup, api_key_id: string | null | undefined) {
  if (api_key_id === null) return { organization_id: chooseOrganization({ world }), api_key_id };
  for (const key of api_key_id === undefined ? world.all(apiKeys) : [world.get(apiKeys, api_key_id)]) {
    if (key && world.get(usage, toUsageId(key.current, key.id)) === undefined)
      return { organization_id: key.current, api_key_id: key.id };
  }
  return { organization_id: chooseOrganization({ world }), api_key_id: api_key_id ?? null };
}

const Amount = () => Type.Number({ minimum: 0, maximum: 1e9 });

/** The sandbox's first month and the month before it. */
const Spent = Type.Object(
  { current: Type.Optional(Amount()), previous: Type.Optional(Amount()) },
  { additionalProperties: false },
);

const keyFormat = createEntryFormat(UsageRecord, {
  omit: ["id", "organization_id", "api_key_id", "api_monthly_limit", "spent"],
  more: { spent: Type.Optional(Spent) },
});
const entryFormat = createEntryFormat(UsageRecord, {
  omit: ["id", "organization_id", "api_key_id", "spent"],
  more: {
    spent: Type.Optional(Spent),
    keys: Type.Optional(
      MapOf(keyFormat.schema, { additionalProperties: false, ...keysBelongTo("api_keys") }, "^apikey_"),
    ),
  },
});
type Entries = Record<string, FixtureEntry<typeof entryFormat>>;

export const usageFixture: FixtureReader = {
  keys: {
    usage: ByOrganization(entryFormat.schema, {
      description: "CHF by organization; keys not named have neither limit nor spending",
    }),
  },
  addRecords(fixture, base) {
    const entries = (fixture["usage"] ?? {}) as Entries;
    base.fill(usage, () =>
      Object.entries(entries).flatMap(([organization_id, entry]) => [
        makeRow(addKeySpending(entry), { organization_id, api_key_id: null }, base),
        ...Object.entries(entry.keys ?? {}).map(([api_key_id, figures]) =>
          makeRow(figures, { organization_id, api_key_id }, base),
        ),
      ]),
    );
  },
};

/** An organization has spent at least what its keys have spent together (section 8). */
function addKeySpending(entry: Entries[string]): Entries[string] {
  const spent = { ...entry.spent };
  for (const month of ["current", "previous"] as const) {
    const total = Object.values(entry.keys ?? {}).reduce((sum, key) => sum + (key.spent?.[month] ?? 0), 0);
    if (total > (spent[month] ?? 0)) spent[month] = total;
  }
  return { ...entry, spent };
}

function makeRow(
  entry: FixtureEntry<typeof entryFormat>,
  owner: Pick<Usage, "organization_id" | "api_key_id">,
  base: BaseBuilder,
): Usage {
  const { current, previous } = entry.spent ?? {};
  const spent = {
    ...(current === undefined ? {} : { "0": toMicro(current) }),
    ...(previous === undefined ? {} : { "-1": toMicro(previous) }),
  };
  const id = toUsageId(owner.organization_id, owner.api_key_id);
  return makeUsage(
    { ...entryFormat.toFields(entry, base), ...owner, spent },
    base.createContext("usage", id),
  );
}
