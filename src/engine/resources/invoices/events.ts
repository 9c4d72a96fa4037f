import { aboutRecords, event } from "../../contract/event.ts";
import { makeInvoice } from "./fixtures.ts";
import { type Invoice, invoices } from "./schema.ts";

const invoice = {
  section: "6.1",
  assumptions: ["G25"],
  about: aboutRecords(invoices, { invent: makeInvoice }),
  data: ["invoice_id", "organization_id", "amount", "currency", "status", "created_at"],
} as const;

export const invoiceCreated = event({
  ...invoice,
  name: "invoice.created",
  summary: "An invoice was written",
  fresh: true,
});

export const invoicePaid = event({
  ...invoice,
  name: "invoice.paid",
  summary: "An invoice was paid",
  implies: { status: "paid" },
});

export const invoiceFailed = event({
  ...invoice,
  name: "invoice.failed",
  summary: "The payment of an invoice failed",
  implies: { status: "failed" },
});

/** The event of each status; a draft emits none. */
export const STATUS_EVENTS = {
  draft: undefined,
  paid: invoicePaid,
  failed: invoiceFailed,
} as const satisfies Record<Invoice["status"], unknown>;

export const INVOICE_EVENTS = [invoiceCreated, invoicePaid, invoiceFailed] as const;
