import { forgedCheck } from "../forged-check.ts";

export const signatureEmpty = forgedCheck({
  id: "signature-empty",
  title: "Refuses an empty signature",
  severity: "critical",
  why: "An empty value is falsy in many languages and slips past checks of the form “if there is a signature, verify it”.",
  advice:
    "Treat an empty header, and a bare `sha256=`, as a wrong signature; never as “no signature to check”.",
  forge: () => [
    { label: "an empty header", signature: "" },
    { label: "the prefix alone", signature: "sha256=" },
  ],
});
