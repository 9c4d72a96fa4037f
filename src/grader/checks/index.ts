import type { Check } from "../check.ts";
import { acceptance, redirects } from "./acceptance.ts";
import { overAllAnswers } from "./answers.ts";
import { content } from "./content.ts";
import { interruption } from "./interruption.ts";
import { rawBody } from "./raw-body.ts";
import { repetition } from "./repetition.ts";
import { signature } from "./signature.ts";
import { transport } from "./transport.ts";

/**
 * Every check, in the order in which they run and are reported. The ones at the end judge all that was
 * exchanged before; `malformed-json` stands late in its group because it may take the receiver down.
 */
export const CHECKS: Check[] = [
  ...acceptance,
  ...signature,
  ...rawBody,
  ...transport,
  ...repetition,
  ...interruption,
  ...content,
  ...redirects,
  ...overAllAnswers,
];
