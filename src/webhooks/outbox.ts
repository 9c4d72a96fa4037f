import Type, { type Static } from "typebox";
import { Instant } from "../contract/schema.ts";
import { collection } from "../state/collection.ts";
import type { Transaction, WorldReader } from "../state/transaction.ts";

/** G15: an e-mail that the emulated service would have sent. */
export const Email = Type.Object({
  id: Type.String(),
  to: Type.String(),
  subject: Type.String(),
  body: Type.String(),
  at: Instant(),
});
export type Email = Static<typeof Email>;

/** How many e-mails a sandbox keeps; an alarm that rings for years must not fill the memory. */
const KEPT = 1000;

export const emails = collection<Email>({
  name: "_emails",
  prefix: "email_",
  idField: "id",
  internal: true,
  schema: Email,
  indexes: { newest: { groups: () => [""], order: ({ at }) => -at } },
});

/** Puts an e-mail into the sandbox's outbox; nothing leaves the machine. */
export function sendEmail(tx: Transaction, email: { to: string; subject: string; body: string }): Email {
  const stored = tx.insert(emails, { id: tx.newestFirstId("email_"), ...email, at: tx.now });
  const all = tx.index(emails, "newest", "");
  if (all.size > KEPT) for (const { id } of all.page(KEPT, all.size - KEPT)) tx.remove(emails, id);
  return stored;
}

/** Newest first. */
export function listEmails(world: WorldReader): object[] {
  return [...world.index(emails, "newest", "")].map(({ id: _, ...email }) => ({
    ...email,
    at: world.iso(email.at),
  }));
}
