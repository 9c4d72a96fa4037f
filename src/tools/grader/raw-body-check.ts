import type { Check } from "./check.ts";
import type { DeliveryShape } from "./delivery.ts";
import { expectAccepted } from "./expectations.ts";

const RAW_BODY =
  "Verify the signature over the bytes as they arrived, before parsing (in Express: express.raw; in Flask: request.get_data(); in Rails: request.raw_post). Never parse and serialise again.";

export interface RawBodyCheck extends Omit<Check, "run" | "mends" | "advice"> {
  shapes: { label: string; shape: DeliveryShape }[];
}

/** A check that sends genuine deliveries whose bytes only survive where nothing touches them before they are verified. */
export function rawBodyCheck({ shapes, ...about }: RawBodyCheck): Check {
  return {
    ...about,
    advice: RAW_BODY,
    mends: ["unauthorized", "bad-request"],
    run: (session) =>
      expectAccepted(
        session,
        shapes.map(({ label, shape }) => ({ label, delivery: session.makeDelivery(shape) })),
      ),
  };
}
