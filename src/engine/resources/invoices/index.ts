import { fixtureRecord, listReader } from "../../contract/fixture-record.ts";
import type { Resource } from "../../contract/resource.ts";
import { makeInvoice } from "./fixtures.ts";
import { followInvoicing, invoiceRules, runInvoicing } from "./rules.ts";
import { Invoice, invoices } from "./schema.ts";

export const invoicesResource = {
  name: "invoices",
  collections: [invoices],
  operations: [],
  factories: { invoices: makeInvoice },
  fixture: listReader(invoices, {
    record: fixtureRecord(Invoice, { needs: ["invoice_id"] }),
    factory: makeInvoice,
  }),
  state: { invoices: invoiceRules },
  timers: { invoice: runInvoicing },
  followSettings: followInvoicing,
} satisfies Resource;
