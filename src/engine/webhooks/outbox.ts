import { type Static, Type } from "typebox";
import { ClosedObject, Instant, Timestamp } from "../contract/schema.ts";
import { collection } from "../state/collection.ts";
import type { Transaction, WorldReader } from "../state/transaction.ts";

/** An e-mail that the emulated service would have sent (G15). */
const Email = Type.Object({
  id: Type.String(),
  to: Type.String(),
  subject: Type.String(),
  body: Type.String(),
  at: Instant(),
});
type Email = Static<typeof Email>;

/** Maximum number of e-mails of a sandbox, so that repeated alarms do not fill the memory. */
const MAX_EMAILS = 1000;

export const emails = collection<Email>({
  name: "_emails",
  internal: true,
  schema: Email,
  indexes: { newest: { groups: () => [""], order: ({ at }) => -at } },
});

/** Puts an e-mail into the sandbox's outbox; nothing leaves the machine. */
export function sendEmail(tx: Transaction, email: { to: string; subject: string; body: string }): Email {
  const storedEmail = tx.insert(emails, { id: tx.createNewestFirstId("email_"), ...email, at: tx.now });
  const newestFirst = tx.index(emails, "newest", "");
  for (const { id } of newestFirst.page(MAX_EMAILS, newestFirst.size)) tx.remove(emails, id);
  return storedEmail;
}

/** An e-mail as the outbox shows it. */
export const EmailBody = ClosedObject(
  { ...Email.properties, at: Timestamp({ description: "On the sandbox's clock" }) },
  {
    $id: "Email",
    examples: [
      {
        ...{ id: "email_1", to: "ada@acme.test", subject: "Sync failed", body: "…" },
        at: "2026-03-15T12:00:00.000Z",
      },
    ],
  },
);

/** Lists e-mails, the newest first. */
export function listEmails(world: WorldReader): Static<typeof EmailBody>[] {
  return [...world.index(emails, "newest", "")].map((email) => ({ ...email, at: world.toIso(email.at) }));
}
