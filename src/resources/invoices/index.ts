import type { Resource } from "../../contract/resource.ts";
import { invoices } from "./schema.ts";
import { invoicesFixture } from "./seed.ts";
import { invoiceRules } from "./state.ts";

export const invoicesResource: Resource = {
  name: "invoices",
  collections: [invoices],
  operations: [],
  fixture: invoicesFixture,
  state: { invoices: invoiceRules },
};
