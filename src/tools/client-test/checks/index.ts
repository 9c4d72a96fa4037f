import type { ClientCheck } from "../client-check.ts";
import { ANSWER_CHECKS } from "./answers.ts";
import { CHANGE_CHECKS } from "./changes.ts";
import { CREDENTIAL_CHECKS } from "./credentials.ts";
import { READING_CHECKS } from "./reading.ts";
import { RETRY_CHECKS } from "./retries.ts";

/** Every check, by theme; a new one is a declaration in a file of its theme. */
export const CLIENT_CHECKS: readonly ClientCheck[] = [
  ...RETRY_CHECKS,
  ...CHANGE_CHECKS,
  ...ANSWER_CHECKS,
  ...CREDENTIAL_CHECKS,
  ...READING_CHECKS,
];
