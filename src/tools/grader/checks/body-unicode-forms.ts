import { rawBodyCheck } from "../raw-body-check.ts";

/** What NFC, NFD and their compatible forms would each write otherwise. */
const FORMS = [
  { label: "a letter and a combining accent", name: "Ze\u0301lie A\u030angstro\u0308m" },
  { label: "composed letters", name: "Z\u00e9lie \u00c5ngstr\u00f6m \ud55c\uae00" },
  { label: "signs that stand for letters", name: "\u212bngstr\u00f6m \u2126 \ufb01n \uff71\uff72 \u2460" },
];

export const bodyUnicodeForms = rawBodyCheck({
  id: "body-unicode-forms",
  title: "Accepts characters in any Unicode form",
  severity: "major",
  why: "é can be one character or two; a receiver, or a gateway before it, that normalises text changes the bytes under the signature, and refuses just those who write so.",
  shapes: FORMS.map(({ label, name }) => ({ label, shape: { event: "user.updated", data: { name } } })),
});
