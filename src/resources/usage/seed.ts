import Type, { type Static } from "typebox";
import type { FixtureReader } from "../../contract/resource.ts";
import { Nullable } from "../../contract/schema.ts";
import { toMicro } from "./money.ts";
import { emptyUsage, type Usage, usage } from "./schema.ts";

const Amount = () => Type.Number({ minimum: 0, maximum: 1e9 });

/** The sandbox's first month and the one before it, whenever that is. */
const Spent = Type.Object(
  { current: Type.Optional(Amount()), previous: Type.Optional(Amount()) },
  { additionalProperties: false },
);

const KeyUsage = Type.Object(
  { monthly_limit: Type.Optional(Nullable(Amount())), spent: Type.Optional(Spent) },
  { additionalProperties: false },
);

const OrganizationUsage = Type.Object(
  {
    monthly_limit: Type.Optional(Nullable(Amount())),
    api_monthly_limit: Type.Optional(Nullable(Amount())),
    spent: Type.Optional(Spent),
    keys: Type.Optional(Type.Record(Type.String({ pattern: "^apikey_" }), KeyUsage)),
  },
  { additionalProperties: false },
);
type Entries = Record<string, Static<typeof OrganizationUsage>>;

export const usageFixture: FixtureReader = {
  keys: {
    usage: Type.Record(Type.String({ pattern: "^org_" }), OrganizationUsage, {
      description: "CHF by organization; keys not named have neither limit nor spending",
    }),
  },
  seed(fixture, base) {
    const entries = (fixture["usage"] ?? {}) as Entries;
    base.fill(usage, () =>
      Object.entries(entries).flatMap(([organization_id, { keys, ...own }]) => [
        row(emptyUsage(organization_id, null), own),
        ...Object.entries(keys ?? {}).map(([key, figures]) => row(emptyUsage(organization_id, key), figures)),
      ]),
    );
  },
};

function row(empty: Usage, { spent, ...limits }: Static<typeof KeyUsage>): Usage {
  const { current, previous } = spent ?? {};
  return {
    ...empty,
    ...limits,
    spent: {
      ...(current === undefined ? {} : { "0": toMicro(current) }),
      ...(previous === undefined ? {} : { "-1": toMicro(previous) }),
    },
  };
}
