import { emit } from "../../contract/event.ts";
import type { StateRules } from "../../contract/resource.ts";
import type { Transaction } from "../../state/transaction.ts";
import { anyOf, referred } from "../organizations/references.ts";
import { organizations } from "../organizations/schema.ts";
import { invoiceCreated, STATUS_EVENTS } from "./events.ts";
import { type Invoice, invoices } from "./schema.ts";

/** G18: the API shows no invoices; they come and go through state calls, which emit the billing events. */
export const invoiceRules: StateRules<Invoice> = {
  complete: (fields, tx, { random }) => ({
    organization_id: fields.organization_id ?? anyOf(tx, organizations, "organization_id").id,
    amount: random.int(2_000, 90_000) / 100,
    currency: "CHF",
    status: "draft",
    created_at: tx.now,
    ...fields,
  }),
  insert(tx, record, actor) {
    referred(tx, organizations, { field: "organization_id", id: record.organization_id });
    tx.insert(invoices, record);
    if (actor.silent) return record;
    emit(tx, invoiceCreated, record);
    tellStatus(tx, record);
    return record;
  },
  update(tx, before, after, actor) {
    referred(tx, organizations, { field: "organization_id", id: after.organization_id });
    tx.put(invoices, after);
    if (!actor.silent && after.status !== before.status) tellStatus(tx, after);
    return after;
  },
};

function tellStatus(tx: Transaction, invoice: Invoice): void {
  const event = STATUS_EVENTS[invoice.status];
  if (event) emit(tx, event, invoice);
}
