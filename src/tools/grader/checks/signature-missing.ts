import { forgedCheck } from "../forged-check.ts";

export const signatureMissing = forgedCheck({
  id: "signature-missing",
  title: "Refuses a delivery without a signature",
  severity: "critical",
  why: "Anyone who learns the URL can post events if the signature may be left out.",
  advice: "Refuse with 401 when X-Service-Signature is absent, before anything else is looked at.",
  forge: () => [{ label: "without the header", signature: null }],
});
