import { type Check, failed, isAccepted, isPutOff, isRefused, passed } from "../check.ts";
import { describe } from "../describe-exchange.ts";
import { judgePutOff } from "../put-off.ts";

export const signatureUpperCase: Check = {
  id: "signature-upper-case",
  title: "Answers a digest in upper case in an orderly way",
  severity: "minor",
  why: "The service sends lower-case hex alone. A receiver that decodes it accepts both, which harms nobody; one that throws is retried for hours.",
  advice: "Refuse it with 401, or accept it where hex is decoded before the comparison.",
  mends: ["exception"],
  async run(session) {
    const delivery = session.makeDelivery();
    const signature = `sha256=${delivery.signature!.slice(7).toUpperCase()}`;
    const exchange = await session.deliver({ ...delivery, signature });
    if (isRefused(exchange)) return passed(`the receiver ${describe(exchange)}`, exchange);
    if (isPutOff(exchange)) return judgePutOff(session, exchange, "a digest in upper case");
    if (!isAccepted(exchange)) return failed(`the receiver ${describe(exchange)}`, exchange);
    const note = "It accepts a digest in upper case too: harmless, as long as the digest is right.";
    return { ...passed(`the receiver ${describe(exchange)}`, exchange), note };
  },
};
