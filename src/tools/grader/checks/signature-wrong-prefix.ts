import { createHmac } from "node:crypto";
import { forgedCheck } from "../forged-check.ts";

export const signatureWrongPrefix = forgedCheck({
  id: "signature-wrong-prefix",
  title: "Refuses another prefix than sha256=",
  severity: "major",
  why: "The prefix names the algorithm; ignoring it, or letting the sender choose by it, means that a weaker or different scheme is taken for this one.",
  advice:
    "Require `sha256=` and then the digest; don't split at `=` and take the rest, and don't look up the algorithm by what was sent.",
  forge: (right, { session, delivery }) => [
    { label: "sha1= before the right digest", signature: `sha1=${right.slice(7)}` },
    { label: "the right digest without a prefix", signature: right.slice(7) },
    ...["sha1", "md5", "sha512"].map((algorithm) => ({
      label: `an HMAC with ${algorithm}`,
      signature: `${algorithm}=${createHmac(algorithm, session.options.secret).update(delivery.body).digest("hex")}`,
    })),
  ],
});
