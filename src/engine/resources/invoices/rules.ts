import { emit } from "../../contract/event.ts";
import type { StateRules } from "../../contract/resource.ts";
import type { Settings } from "../../contract/settings.ts";
import { timerId, timers } from "../../state/timers.ts";
import type { Transaction } from "../../state/transaction.ts";
import { organizations } from "../organizations/schema.ts";
import {
  currentMonth,
  findUsage,
  fromMicro,
  monthStart,
  monthText,
  parseMonth,
  roundAmount,
  spentIn,
  toStatus,
} from "../usage/rules.ts";
import { invoiceCreated, STATUS_EVENTS } from "./events.ts";
import { type Invoice, invoices } from "./schema.ts";

/** G36: from an invoice to its payment. */
const PAYMENT_MS = 3 * 86_400_000;
/** The key of the month's timer; payments' timers have their invoices' ids. */
const TURN = "month";

/** G36: with `invoicing` on, the turn of this month is waited for, and so are the payments of what was invoiced. */
export function followInvoicing(tx: Transaction, { invoicing }: Settings): void {
  if (invoicing === "off") {
    for (const { key, subject } of tx.index(timers, "by_kind", "invoice"))
      tx.unschedule("invoice", key ?? subject);
    return;
  }
  if (tx.get(timers, timerId("invoice", TURN)) === undefined) awaitTurn(tx, currentMonth(tx));
  for (const invoice of tx.all(invoices)) {
    const { invoice_id, status, settles } = invoice;
    if (status !== "draft" || settles === null) continue;
    if (tx.get(timers, timerId("invoice", invoice_id)) === undefined) awaitPayment(tx, invoice);
  }
}

/** The timers of this kind: a month is over, or an invoice is due. */
export function runInvoicing(
  tx: Transaction,
  { subject, due, key }: { subject: string; due: number; key?: string },
): void {
  if (key === TURN) turnMonth(tx, parseMonth(tx, subject), due);
  else settle(tx, subject);
}

function turnMonth(tx: Transaction, month: number, at: number): void {
  for (const { id } of tx.all(organizations)) {
    const row = findUsage(tx, id, null);
    const spent = spentIn(row, month);
    if (spent > 0)
      invoice(tx, id, { spent, at, exceeded: toStatus(spent, row.monthly_limit) === "exceeded" });
  }
  awaitTurn(tx, month + 1);
}

/** @param spent in millionths of a franc; what rounds to nothing is still a centime */
function invoice(
  tx: Transaction,
  organization_id: string,
  { spent, at, exceeded }: { spent: number; at: number; exceeded: boolean },
): void {
  const written = tx.insert(invoices, {
    invoice_id: tx.newId("inv_"),
    organization_id,
    amount: Math.max(0.01, roundAmount(fromMicro(spent))),
    currency: "CHF",
    status: "draft",
    created_at: at,
    settles: exceeded ? "failed" : "paid",
  });
  emit(tx, invoiceCreated, written);
  awaitPayment(tx, written);
}

function settle(tx: Transaction, invoice_id: string): void {
  const due = tx.get(invoices, invoice_id);
  if (due?.status !== "draft" || due.settles === null) return;
  emit(tx, STATUS_EVENTS[due.settles], tx.put(invoices, { ...due, status: due.settles }));
}

function awaitTurn(tx: Transaction, month: number): void {
  const due = monthStart(tx, month + 1);
  tx.schedule({ kind: "invoice", key: TURN, subject: monthText(tx, month), due });
}

function awaitPayment(tx: Transaction, { invoice_id, created_at }: Invoice): void {
  tx.schedule({ kind: "invoice", subject: invoice_id, due: Math.max(tx.now, created_at + PAYMENT_MS) });
}

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
