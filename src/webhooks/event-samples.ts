import type { EventName } from "../contract/event-names.ts";
import type { Random } from "../state/random.ts";
import type { WorldReader } from "../state/transaction.ts";
import { EVENT_SHAPES } from "./event-data.ts";

type Sample = (random: Random, event: string, now: string) => unknown;

const id =
  (prefix: string): Sample =>
  (random) =>
    prefix + random.letters(20);

const isLimit = (event: string) => event === "usage.limit";

/** A plausible value for each field that a payload may have, where no object fills it. */
const SAMPLES: Readonly<Record<string, Sample>> = {
  user_id: id("usr_"),
  name: (random) => random.pick(["Alma Berg", "Chidi Costa", "Dora Engel", "Jonas Ito"]),
  email: (random) => `${random.pick(["alma", "chidi", "dora", "jonas"])}.${random.letters(4)}@example.test`,
  account: () => "active",
  verified: () => true,
  created_at: (_random, _event, now) => now,
  message_id: id("msg_"),
  thread_id: id("thread_"),
  role: () => "user",
  content: (random) => random.pick(["Hello!", "Please summarise the handbook.", "Thank you, that helps."]),
  owner_id: id("usr_"),
  title: (random) => random.pick(["Welcome", "Quarterly plan", "Open questions"]),
  file_id: id("file_"),
  object: () => "file",
  filename: (random) => random.pick(["report.pdf", "notes.md", "minutes.txt"]),
  mime_type: () => "application/pdf",
  file_size: (random) => random.int(1_000, 900_000),
  status: (_random, event) =>
    ({ "file.processed": "completed", "invoice.paid": "paid", "invoice.failed": "failed" })[event] ??
    (event.startsWith("invoice.") ? "draft" : "uploaded"),
  gcs_path: (random) => `gs://uploads/${random.letters(16)}`,
  created_by: id("usr_"),
  store_id: id("vs_"),
  scope: () => "organization",
  monthly_limit: () => 1000,
  current_usage: (_random, event) => (isLimit(event) ? 1000 : 800),
  utilization_percentage: (_random, event) => (isLimit(event) ? 100 : 80),
  invoice_id: id("inv_"),
  amount: (random) => random.int(1_000, 90_000) / 100,
  currency: () => "CHF",
};

/** Data of an event that is about no object of the sandbox, drawn from `random`. */
export function sampleData(
  event: EventName,
  about: { organization_id: string; world: WorldReader; at: number; random: Random },
): Record<string, unknown> {
  const now = about.world.iso(about.at);
  const data: Record<string, unknown> = {};
  for (const field of EVENT_SHAPES[event].fields) {
    if (field === "organization_id") data[field] = about.organization_id;
    // An organization's own figures are about no key.
    else if (field !== "api_key_id") data[field] = SAMPLES[field]!(about.random, event, now);
  }
  return data;
}
