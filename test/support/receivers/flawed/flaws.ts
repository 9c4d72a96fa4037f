import { acceptanceFlaws } from "./acceptance-flaws.ts";
import { bodyFlaws } from "./body-flaws.ts";
import { contentFlaws } from "./content-flaws.ts";
import type { Flaw } from "./flaw.ts";
import { repetitionFlaws } from "./repetition-flaws.ts";
import { signatureFlaws } from "./signature-flaws.ts";

export type { Flaw };

export const FLAWS: Flaw[] = [
  ...acceptanceFlaws,
  ...signatureFlaws,
  ...bodyFlaws,
  ...contentFlaws,
  ...repetitionFlaws,
];
