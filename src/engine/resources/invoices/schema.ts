import Type, { type Static } from "typebox";
import { belongsTo } from "../../contract/references.ts";
import { Id, Instant, internal, Nullable, Words } from "../../contract/schema.ts";
import { collection } from "../../state/collection.ts";

/** G25: the shape that the billing events carry. */
export const Invoice = Type.Object({
  invoice_id: Id("inv_"),
  organization_id: Id("org_", belongsTo("organizations")),
  amount: Type.Number({ minimum: 0 }),
  currency: Type.String({ pattern: "^[A-Z]{3}$" }),
  status: Words(["draft", "paid", "failed"]),
  created_at: Instant(),
  /** The status that an invoice for a month's spending gets when it is due (G36); null for others. */
  settles: internal(Nullable(Words(["paid", "failed"]))),
});
export type Invoice = Static<typeof Invoice>;

export const invoices = collection({
  name: "invoices",
  prefix: "inv_",
  idField: "invoice_id",
  schema: Invoice,
  timer: "invoice",
});
