import { type Static, Type } from "typebox";
import { aboutRecords, emit, event } from "../contract/event.ts";
import { chooseCreation, type Factory } from "../contract/factory.ts";
import { createEntryFormat, createListReader } from "../contract/fixture-entry.ts";
import { belongsTo } from "../contract/references.ts";
import type { Resource, StateRules } from "../contract/resource.ts";
import { Id, Instant, internal, Nullable, StringEnum } from "../contract/schema.ts";
import type { Settings } from "../contract/settings.ts";
import { DAY_MS } from "../state/clock.ts";
import { collection } from "../state/collection.ts";
import { timers, toTimerId } from "../state/timers.ts";
import type { Transaction } from "../state/transaction.ts";
import type { TimerHandler } from "../state/world-parts.ts";
import { chooseOrganization } from "./organizations/access.ts";
import { organizations } from "./organizations/schema.ts";
import {
  findUsage,
  formatMonth,
  fromMicro,
  getCurrentMonth,
  getMonthStart,
  getSpent,
  parseMonth,
  roundAmount,
  toStatus,
} from "./usage/rules.ts";

/** The fields of an invoice are those of the billing events (G25). */
const Invoice = Type.Object({
  invoice_id: Id("inv_"),
  organization_id: Id("org_", belongsTo("organizations")),
  amount: Type.Number({ minimum: 0 }),
  currency: Type.String({ pattern: "^[A-Z]{3}$" }),
  status: StringEnum(["draft", "paid", "failed"]),
  created_at: Instant(),
  /** The status that an invoice for a month's spending gets when it is due (G36); null for others. */
  final_status: internal(Nullable(StringEnum(["paid", "failed"]))),
  /** The part of a month's spending that the invoice is for, in the form of `Usage` (G36); absent for others. */
  covers: internal(Type.Optional(Type.Object({ month: Type.Integer(), spent: Type.Integer() }))),
});
type Invoice = Static<typeof Invoice>;

export const invoices = collection({
  name: "invoices",
  idField: "invoice_id",
  schema: Invoice,
  timer: "invoice",
});

const makeInvoice: Factory<Invoice> = (fields, context) => {
  const { random } = context;
  return {
    invoice_id: fields.invoice_id ?? context.createId("inv_"),
    organization_id: chooseOrganization(context, fields.organization_id),
    amount: fields.amount ?? random.int(2_000, 90_000) / 100,
    currency: fields.currency ?? "CHF",
    status: fields.status ?? "draft",
    created_at: fields.created_at ?? chooseCreation(context, () => random.int(1, 60) * DAY_MS),
    final_status: null,
  };
};

const invoiceEvent = {
  section: "6.1",
  assumptions: ["G25"],
  about: aboutRecords(invoices, { invent: makeInvoice }),
} as const;

const invoiceCreated = event({
  ...invoiceEvent,
  name: "invoice.created",
  summary: "An invoice was written",
  isAboutCreation: true,
});

const invoicePaid = event({
  ...invoiceEvent,
  name: "invoice.paid",
  summary: "An invoice was paid",
  fixedData: { status: "paid" },
});

const invoiceFailed = event({
  ...invoiceEvent,
  name: "invoice.failed",
  summary: "The payment of an invoice failed",
  fixedData: { status: "failed" },
});

/** The event of each status; a draft emits none. */
const STATUS_EVENTS = {
  draft: undefined,
  paid: invoicePaid,
  failed: invoiceFailed,
} as const satisfies Record<Invoice["status"], unknown>;

export const INVOICE_EVENTS = [invoiceCreated, invoicePaid, invoiceFailed] as const;

/** The time from an invoice to its payment (G36). */
const PAYMENT_MS = 3 * DAY_MS;
/** The key of the timer for the end of a month; the timer of a payment is found by the invoice's id. */
const MONTH_END = "month";

/** Sets timers for this month's end and for payments of issued invoices; removes them if `invoicing` is off (G36). */
export function updateInvoiceTimers(tx: Transaction, { invoicing }: Settings): void {
  if (invoicing === "off") {
    for (const { key, subject } of tx.index(timers, "by_kind", "invoice"))
      tx.unschedule("invoice", key ?? subject);
    return;
  }
  if (tx.get(timers, toTimerId("invoice", MONTH_END)) === undefined)
    scheduleMonthEnd(tx, getCurrentMonth(tx));
  for (const invoice of tx.all(invoices)) {
    const { invoice_id, status, final_status } = invoice;
    if (status !== "draft" || final_status === null) continue;
    if (tx.get(timers, toTimerId("invoice", invoice_id)) === undefined) schedulePayment(tx, invoice);
  }
}

/** Handles `invoice` timers: at the end of a month, and when a payment is due. */
const runInvoicing: TimerHandler = (tx, { subject, due, key }) => {
  if (key === MONTH_END) createInvoices(tx, parseMonth(tx, subject), due);
  else settleInvoice(tx, subject);
};

/** Invoices what earlier invoices of the month do not cover: a call can run the timer before the month ends. */
function createInvoices(tx: Transaction, month: number, at: number): void {
  const covered = new Map<string, number>();
  for (const { organization_id, covers } of tx.all(invoices))
    if (covers?.month === month)
      covered.set(organization_id, (covered.get(organization_id) ?? 0) + covers.spent);
  for (const { id } of tx.all(organizations)) {
    const usageRow = findUsage(tx, id, null);
    const spentInMonth = getSpent(usageRow, month);
    const spent = spentInMonth - (covered.get(id) ?? 0);
    const exceeded = toStatus(spentInMonth, usageRow.monthly_limit) === "exceeded";
    if (spent > 0) createInvoice(tx, id, { month, spent, at, exceeded });
  }
  scheduleMonthEnd(tx, at < getMonthStart(tx, month + 1) ? month : month + 1);
}

/** @param spent in millionths of a franc; the invoice has at least a centime */
function createInvoice(
  tx: Transaction,
  organization_id: string,
  { month, spent, at, exceeded }: { month: number; spent: number; at: number; exceeded: boolean },
): void {
  const invoice = tx.insert(invoices, {
    invoice_id: tx.createId("inv_"),
    organization_id,
    amount: Math.max(0.01, roundAmount(fromMicro(spent))),
    currency: "CHF",
    status: "draft",
    created_at: at,
    final_status: exceeded ? "failed" : "paid",
    covers: { month, spent },
  });
  emit(tx, invoiceCreated, invoice);
  schedulePayment(tx, invoice);
}

function settleInvoice(tx: Transaction, invoice_id: string): void {
  const invoice = tx.get(invoices, invoice_id);
  if (invoice?.status !== "draft" || invoice.final_status === null) return;
  emitStatusEvent(tx, tx.put(invoices, { ...invoice, status: invoice.final_status }));
}

function scheduleMonthEnd(tx: Transaction, month: number): void {
  const due = getMonthStart(tx, month + 1);
  tx.schedule({ kind: "invoice", key: MONTH_END, subject: formatMonth(tx, month), due });
}

function schedulePayment(tx: Transaction, { invoice_id, created_at }: Invoice): void {
  tx.schedule({ kind: "invoice", subject: invoice_id, due: Math.max(tx.now, created_at + PAYMENT_MS) });
}

/** The API shows no invoices; state calls create and delete them, and emit the billing events (G18). */
const invoiceStateRules: StateRules<Invoice> = {
  insert(tx, record, actor) {
    tx.insert(invoices, record);
    if (actor.silent) return record;
    emit(tx, invoiceCreated, record);
    emitStatusEvent(tx, record);
    return record;
  },
  update(tx, before, after, actor) {
    if (after.status === before.status) return tx.put(invoices, after);
    // The call decides the status, so that no payment follows.
    const invoice = tx.put(invoices, { ...after, final_status: null });
    tx.unschedule("invoice", invoice.invoice_id);
    if (!actor.silent) emitStatusEvent(tx, invoice);
    return invoice;
  },
};

function emitStatusEvent(tx: Transaction, invoice: Invoice): void {
  const event = STATUS_EVENTS[invoice.status];
  if (event) emit(tx, event, invoice);
}

export const invoicesResource = {
  name: "invoices",
  collections: [invoices],
  operations: [],
  factories: { invoices: makeInvoice },
  fixture: createListReader(invoices, {
    entryFormat: createEntryFormat(Invoice, { required: ["invoice_id"] }),
    factory: makeInvoice,
  }),
  state: { invoices: invoiceStateRules },
  timers: { invoice: runInvoicing },
  followSettings: updateInvoiceTimers,
} satisfies Resource;
