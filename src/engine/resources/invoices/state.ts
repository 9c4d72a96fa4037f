import { emit } from "../../contract/event.ts";
import type { StateRules } from "../../contract/resource.ts";
import type { Transaction } from "../../state/transaction.ts";
import { invoiceCreated, STATUS_EVENTS } from "./events.ts";
import { type Invoice, invoices } from "./schema.ts";

/** G18: the API shows no invoices; they come and go through state calls, which emit the billing events. */
export const invoiceRules: StateRules<Invoice> = {
  insert(tx, record, actor) {
    tx.insert(invoices, record);
    if (actor.silent) return record;
    emit(tx, invoiceCreated, record);
    tellStatus(tx, record);
    return record;
  },
  update(tx, before, after, actor) {
    tx.put(invoices, after);
    if (after.status !== "draft") tx.unschedule("invoice", after.invoice_id);
    if (!actor.silent && after.status !== before.status) tellStatus(tx, after);
    return after;
  },
};

function tellStatus(tx: Transaction, invoice: Invoice): void {
  const event = STATUS_EVENTS[invoice.status];
  if (event) emit(tx, event, invoice);
}
