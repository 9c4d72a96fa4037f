import { describe, expect, it } from "vitest";
import { EVENT_NAMES } from "../contract/event-names.ts";
import { fileEventData } from "../resources/files/present.ts";
import { invoiceEventData } from "../resources/invoices/events.ts";
import { messageEventData, threadEventData } from "../resources/threads/events.ts";
import { Random } from "../state/random.ts";
import type { WorldReader } from "../state/transaction.ts";
import { EVENT_SHAPES, eventData, ownIdField } from "./event-data.ts";
import { sampleData } from "./event-samples.ts";

const world = { iso: (instant: number) => new Date(instant).toISOString() } as WorldReader;

describe("G25 data of events", () => {
  it("6.2 user.created carries user_id, email and created_at, and nothing else", () => {
    const record = {
      id: "usr_1",
      email: "a@b.test",
      name: "A",
      verified: true,
      created_at: 0,
      memberships: {},
    };
    expect(eventData("user.created", record, { world })).toEqual({
      user_id: "usr_1",
      email: "a@b.test",
      created_at: "1970-01-01T00:00:00.000Z",
    });
    expect(eventData("user.verified", record, { world })).toMatchObject({ user_id: "usr_1", verified: true });
    expect(eventData("user.updated", record, { world })).not.toHaveProperty("memberships");
  });

  it("G25 extra fields stand in for what the record does not hold", () => {
    const file = { id: "file_1", filename: "a.txt", status: "uploaded" };
    const extra = { store_id: "vs_1", status: "completed" };
    expect(eventData("file.processed", file, { world, extra })).toEqual({
      file_id: "file_1",
      filename: "a.txt",
      status: "completed",
      store_id: "vs_1",
    });
  });

  it("G25 triggered events look like those that real changes of threads, messages, files and invoices emit", () => {
    const thread = { id: "thread_1", organization_id: "org_1", owner_id: "usr_1", title: "T", created_at: 5 };
    expect(eventData("thread.created", thread, { world })).toEqual(threadEventData(thread, world));
    const message = {
      id: "msg_1",
      thread_id: "thread_1",
      role: "user" as const,
      content: "x",
      created_at: 5,
    };
    expect(eventData("message.updated", message, { world })).toEqual(messageEventData(message, world));
    const file = {
      id: "file_1",
      object: "file" as const,
      filename: "a.txt",
      mime_type: "text/plain",
      file_size: 3,
      organization_id: "org_1",
      status: "uploaded" as const,
      gcs_path: "gs://uploads/a",
      created_at: 5,
      created_by: "usr_1",
    };
    expect(eventData("file.uploaded", file, { world })).toEqual(fileEventData(file, world));
    const invoice = {
      invoice_id: "inv_1",
      organization_id: "org_1",
      amount: 1,
      currency: "CHF",
      status: "paid" as const,
      created_at: 5,
    };
    expect(eventData("invoice.paid", invoice, { world })).toEqual(invoiceEventData(invoice, world));
  });

  it.each(EVENT_NAMES)("6.1 %s has a shape, and samples for every field of it", (event) => {
    const own = ownIdField(event);
    if (own !== undefined) expect(EVENT_SHAPES[event].fields[0]).toBe(own);
    const about = { organization_id: "org_1", world, at: 0, random: new Random(1, event) };
    expect(Object.values(sampleData(event, about))).not.toContain(undefined);
  });
});
