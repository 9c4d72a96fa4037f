import { Random } from "../state/random.ts";
import { View } from "../state/view.ts";
import { type AnyEvent, type SampleOf, sampleData } from "./event.ts";

/** Where there is no sandbox: what is told of stands alone. */
export const NOWHERE: SampleOf["world"] = {
  iso: (at) => new Date(at).toISOString(),
  get: () => undefined,
  all: <R>() => View.ofList<R>([]),
  index: <R>() => View.ofList<R>([]),
};

/** When the reference world begins. */
const AT = Date.UTC(2026, 2, 15, 12);
const KNOWN = { organization_id: "org_acme", webhook_id: "wh_example" };

/** A payload of section 6.2, always the same one. */
export function samplePayload(event: AnyEvent): Record<string, unknown> {
  const random = new Random(0, "sample", event.name);
  return {
    event: event.name,
    data: sampleData(event, { world: NOWHERE, at: AT, random, known: KNOWN }),
    timestamp: NOWHERE.iso(AT),
    webhook_id: KNOWN.webhook_id,
    delivery_id: "del_example",
  };
}
