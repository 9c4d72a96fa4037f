import type { Transaction, WorldReader } from "../../state/transaction.ts";
import type { Invoice } from "./schema.ts";

export function invoiceEventData(invoice: Invoice, world: WorldReader) {
  return { ...invoice, created_at: world.iso(invoice.created_at) };
}

/** What the new status of an invoice is told as; a draft is not news. */
export function emitInvoiceStatus(tx: Transaction, invoice: Invoice): void {
  if (invoice.status === "draft") return;
  tx.emit(`invoice.${invoice.status}`, invoice.organization_id, invoiceEventData(invoice, tx));
}
