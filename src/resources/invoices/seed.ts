import Type, { type Static } from "typebox";
import type { FixtureReader } from "../../contract/resource.ts";
import { Id, Timestamp, Words } from "../../contract/schema.ts";
import { firstOrganization } from "../organizations/of-fixture.ts";
import { invoices } from "./schema.ts";

const DAY = 86_400_000;

const InvoiceEntry = Type.Object(
  {
    invoice_id: Id("inv_"),
    organization_id: Type.Optional(Id("org_")),
    amount: Type.Optional(Type.Number({ minimum: 0 })),
    currency: Type.Optional(Type.String({ pattern: "^[A-Z]{3}$" })),
    status: Type.Optional(Words(["draft", "paid", "failed"])),
    created_at: Type.Optional(Timestamp()),
  },
  { additionalProperties: false },
);

export const invoicesFixture: FixtureReader = {
  keys: { invoices: Type.Array(InvoiceEntry) },
  seed(fixture, base) {
    const entries = (fixture["invoices"] ?? []) as Static<typeof InvoiceEntry>[];
    base.fill(invoices, () =>
      entries.map((entry) => {
        const random = base.random("invoices", entry.invoice_id);
        return {
          invoice_id: entry.invoice_id,
          organization_id: entry.organization_id ?? firstOrganization(fixture),
          amount: entry.amount ?? random.int(2_000, 90_000) / 100,
          currency: entry.currency ?? "CHF",
          status: entry.status ?? "draft",
          created_at: entry.created_at ? base.instant(entry.created_at) : -random.int(1, 60) * DAY,
        };
      }),
    );
  },
};
