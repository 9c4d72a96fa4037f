import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Api, startReference } from "../support/harness.ts";
import { getStateRules } from "../support/state-rules.ts";

let api: Api;
beforeEach(async () => {
  api = await startReference();
});
afterEach(() => api.close());

const getInvoiceRules = () => getStateRules(api, "invoices");
const readNames = ({ emitted }: { emitted: readonly { event: string }[] }) =>
  emitted.map(({ event }) => event);

describe("state calls on invoices [G18, G25]", () => {
  it("emit invoice.created with the invoice and its invoice_id [G25]", () => {
    const { record, emitted } = getInvoiceRules().post({ organization_id: "org_globex", amount: 12.5 });
    expect(record.invoice_id).toMatch(/^inv_/);
    expect(emitted).toEqual([
      {
        event: "invoice.created",
        organization_id: "org_globex",
        data: {
          invoice_id: record.invoice_id,
          organization_id: "org_globex",
          amount: 12.5,
          currency: "CHF",
          status: "draft",
          created_at: "2026-03-15T12:00:00.000Z",
        },
      },
    ]);
  });

  it("emit one event for a payment that succeeds or fails, and none if silent [G25]", () => {
    const id = getInvoiceRules().post({}).record.invoice_id;
    expect(readNames(getInvoiceRules().patch(id, { status: "failed" }))).toEqual(["invoice.failed"]);
    expect(readNames(getInvoiceRules().patch(id, { status: "failed", amount: 1 }))).toEqual([]);
    expect(readNames(getInvoiceRules().patch(id, { status: "paid" }))).toEqual(["invoice.paid"]);
    expect(readNames(getInvoiceRules().patch(id, { status: "draft" }))).toEqual([]);
    expect(readNames(getInvoiceRules().patch(id, { status: "paid" }, { silent: true }))).toEqual([]);
  });

  it("emit two events for an invoice that is created as paid [G25]", () => {
    expect(readNames(getInvoiceRules().post({ status: "paid" }))).toEqual([
      "invoice.created",
      "invoice.paid",
    ]);
  });

  it("refuse an unknown organization [interfaces 4]", () => {
    expect(() => getInvoiceRules().post({ organization_id: "org_none" })).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ field: "organization_id" }) }),
    );
  });
});
