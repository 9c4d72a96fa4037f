import Type from "typebox";
import { type EntryOf, fixtureRecord } from "../../contract/fixture-record.ts";
import { keysBelongTo } from "../../contract/references.ts";
import type { BaseBuilder, FixtureReader } from "../../contract/resource.ts";
import { ByOrganization } from "../organizations/schema.ts";
import { makeUsage } from "./make.ts";
import { toMicro } from "./money.ts";
import { type Usage, UsageRecord, usage, usageId } from "./schema.ts";

const Amount = () => Type.Number({ minimum: 0, maximum: 1e9 });

/** The sandbox's first month and the one before it, whenever that is. */
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
      Type.Record(Type.String({ pattern: "^apikey_" }), keyRecord.schema, {
        additionalProperties: false,
        ...keysBelongTo("api_keys"),
      }),
    ),
  },
});
type Entries = Record<string, EntryOf<typeof record>>;

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
        rowOf(own, { organization_id, api_key_id: null }, base),
        ...Object.entries(own.keys ?? {}).map(([api_key_id, figures]) =>
          rowOf(figures, { organization_id, api_key_id }, base),
        ),
      ]),
    );
  },
};

function rowOf(
  entry: EntryOf<typeof record>,
  place: Pick<Usage, "organization_id" | "api_key_id">,
  base: BaseBuilder,
): Usage {
  const { current, previous } = entry.spent ?? {};
  const spent = {
    ...(current === undefined ? {} : { "0": toMicro(current) }),
    ...(previous === undefined ? {} : { "-1": toMicro(previous) }),
  };
  const id = usageId(place.organization_id, place.api_key_id);
  return makeUsage({ ...record.given(entry, base), ...place, spent }, base.context("usage", id));
}
