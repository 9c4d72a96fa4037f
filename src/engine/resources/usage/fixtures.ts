import { Type } from "typebox";
import type { Factory, RecordLookup } from "../../contract/factory.ts";
import { type FixtureEntry, fixtureRecord } from "../../contract/fixture-record.ts";
import { keysBelongTo } from "../../contract/references.ts";
import type { BaseBuilder, FixtureReader } from "../../contract/resource.ts";
import { MapOf } from "../../contract/schema.ts";
import { apiKeys } from "../api-keys/schema.ts";
import { chooseOrganization } from "../organizations/access.ts";
import { ByOrganization } from "../organizations/schema.ts";
import { toMicro } from "./rules.ts";
import { createEmptyUsage, type Usage, UsageRecord, usage, usageId } from "./schema.ts";

/** A row without limits or spending, for the organization or key in its id or fields. */
export const makeUsage: Factory<Usage> = (fields, { world }) => {
  const [organization, key = null] = fields.id?.split(":") ?? [];
  const named = fields.organization_id ?? organization;
  const { organization_id, api_key_id } =
    named === undefined
      ? findFreePlace(world, fields.api_key_id)
      : { organization_id: named, api_key_id: fields.api_key_id === undefined ? key : fields.api_key_id };
  const name = api_key_id === null ? undefined : world.get(apiKeys, api_key_id)?.name;
  return {
    ...createEmptyUsage(organization_id, api_key_id),
    ...(name !== undefined && { api_key_name: name }),
    ...fields,
  };
};

/** The default organization of a row: that of its key, or one without a row. */
function findFreePlace(world: RecordLookup, api_key_id: string | null | undefined) {
  const candidates = api_key_id ? [world.get(apiKeys, api_key_id)] : world.all(apiKeys);
  for (const key of api_key_id === null ? [] : candidates) {
    if (key && world.get(usage, usageId(key.current, key.id)) === undefined)
      return { organization_id: key.current, api_key_id: key.id };
  }
  return {
    organization_id: chooseOrganization(world),
    api_key_id: api_key_id ?? null,
  };
}

const Amount = () => Type.Number({ minimum: 0, maximum: 1e9 });

/** The sandbox's first month and the month before it. */
const Spent = Type.Object(
  { current: Type.Optional(Amount()), previous: Type.Optional(Amount()) },
  { additionalProperties: false },
);

const keyRecord = fixtureRecord(UsageRecord, {
  omit: ["id", "organization_id", "api_key_id", "api_monthly_limit", "spent"],
  more: { spent: Type.Optional(Spent) },
});
const record = fixtureRecord(UsageRecord, {
  omit: ["id", "organization_id", "api_key_id", "spent"],
  more: {
    spent: Type.Optional(Spent),
    keys: Type.Optional(
      MapOf(
        keyRecord.schema,
        {
          additionalProperties: false,
          ...keysBelongTo("api_keys"),
        },
        "^apikey_",
      ),
    ),
  },
});
type Entries = Record<string, FixtureEntry<typeof record>>;

export const usageFixture: FixtureReader = {
  keys: {
    usage: ByOrganization(record.schema, {
      description: "CHF by organization; keys not named have neither limit nor spending",
    }),
  },
  seed(fixture, base) {
    const entries = (fixture["usage"] ?? {}) as Entries;
    base.fill(usage, () =>
      Object.entries(entries).flatMap(([organization_id, own]) => [
        makeRow(own, { organization_id, api_key_id: null }, base),
        ...Object.entries(own.keys ?? {}).map(([api_key_id, figures]) =>
          makeRow(figures, { organization_id, api_key_id }, base),
        ),
      ]),
    );
  },
};

function makeRow(
  entry: FixtureEntry<typeof record>,
  place: Pick<Usage, "organization_id" | "api_key_id">,
  base: BaseBuilder,
): Usage {
  const { current, previous } = entry.spent ?? {};
  const spent = {
    ...(current === undefined ? {} : { "0": toMicro(current) }),
    ...(previous === undefined ? {} : { "-1": toMicro(previous) }),
  };
  const id = usageId(place.organization_id, place.api_key_id);
  return makeUsage({ ...record.toFields(entry, base), ...place, spent }, base.createContext("usage", id));
}
