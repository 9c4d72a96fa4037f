import type { Factory } from "../../contract/factory.ts";
import { firstRecord } from "../../contract/references.ts";
import { organizations } from "../organizations/schema.ts";
import type { Invoice } from "./schema.ts";

const DAY_MS = 86_400_000;

export const makeInvoice: Factory<Invoice> = (given, context) => {
  const { random, world, past, now } = context;
  return {
    invoice_id: given.invoice_id ?? context.newId("inv_"),
    organization_id: given.organization_id ?? firstRecord(world, organizations, "organization_id").id,
    amount: given.amount ?? random.int(2_000, 90_000) / 100,
    currency: given.currency ?? "CHF",
    status: given.status ?? "draft",
    created_at: given.created_at ?? (past ? -random.int(1, 60) * DAY_MS : now),
    settles: null,
  };
};
