import { randomBytes } from "node:crypto";
import { sign } from "../../engine/webhooks/sign.ts";
import type { Check } from "./check.ts";
import type { Delivery, DeliveryShape, Transport } from "./delivery.ts";
import { expectRefused, type Sending } from "./expectations.ts";
import type { Session } from "./session.ts";

export interface Forgery {
  label: string;
  signature: string | null;
}

/** A check that sends the service's own payload under signatures that are wrong in one way. */
export interface ForgedCheck extends Omit<Check, "run" | "mends"> {
  /** The wrong values to send, made from the right one (`sha256=` and 64 hex digits). */
  forge: (right: string, about: { session: Session; delivery: Delivery }) => Forgery[];
  transport?: Transport;
}

export function forgedCheck({ forge, transport, ...about }: ForgedCheck): Check {
  return {
    ...about,
    // Throwing at a wrong signature is as much its own trouble as accepting it.
    mends: ["exception"],
    run(session) {
      // The number of wrong values is known only from a first forging; each travels under an id of its own.
      const sample = session.makeDelivery();
      const count = forge(sample.signature!, { session, delivery: sample }).length;
      const sendings = Array.from({ length: count }, (_, index) => {
        const delivery = session.makeDelivery();
        const { label, signature } = forge(delivery.signature!, { session, delivery })[index]!;
        return { label, delivery: { ...delivery, signature }, transport };
      });
      return expectRefused(session, sendings);
    },
  };
}

/** A delivery without a signature, and one with that of another secret. */
export function forgeries(
  session: Session,
  about: { label: string; shape?: DeliveryShape; transport?: Transport },
): Sending[] {
  const { label, shape, transport } = about;
  const unsigned = { ...session.makeDelivery(shape), signature: null };
  const other = session.makeDelivery(shape);
  const signature = sign(`whsec_${randomBytes(16).toString("hex")}`, other.body);
  return [
    { label: `${label}, without a signature`, delivery: unsigned, transport },
    { label: `${label}, signed with another secret`, delivery: { ...other, signature }, transport },
  ];
}
