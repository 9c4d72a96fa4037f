import type { Check } from "../check.ts";
import * as body from "./body.ts";
import * as bypass from "./bypass.ts";
import * as connection from "./connection.ts";
import * as content from "./content.ts";
import * as disclosure from "./disclosure.ts";
import * as duplicates from "./duplicates.ts";
import * as schedule from "./schedule.ts";
import * as signature from "./signature.ts";

/** Always runs: a refusal proves nothing if nothing is accepted. */
export const FIRST_CHECK = content.validAccepted;

/**
 * Every check, in the order in which they run and are reported. `long-memory` and `malformed-json` come after the
 * others that send, since one may exhaust a rate limit and the other may stop the receiver; the last ones read all
 * earlier attempts.
 */
export const CHECKS: readonly Check[] = [
  FIRST_CHECK,
  connection.connectionReuse,
  content.validProcessed,
  signature.signatureMissing,
  signature.signatureEmpty,
  signature.signatureTruncated,
  signature.signatureNearlyRight,
  signature.signaturePrefix,
  signature.signatureSurrounded,
  signature.signatureTrailingText,
  signature.signatureWrongPrefix,
  signature.signatureWrongEncoding,
  signature.signatureUpperCase,
  bypass.signatureWrongSecret,
  bypass.signatureBehindProxy,
  bypass.signatureEveryEvent,
  bypass.signatureEveryForm,
  bypass.bodyChanged,
  body.bodyWhitespace,
  body.bodyKeyOrder,
  body.bodyUnicodeEscapes,
  body.bodyUtf8,
  body.bodyUnicodeForms,
  content.headerNameCase,
  content.contentTypeCharset,
  body.bodyLarge,
  body.bodyChunked,
  connection.methodPostOnly,
  duplicates.duplicate,
  duplicates.duplicateAtOnce,
  schedule.retryAfter5xx,
  duplicates.distinctDeliveries,
  duplicates.distinctAtOnce,
  duplicates.forgeryBeforeOriginal,
  schedule.outOfOrder,
  schedule.timeoutAfterCommit,
  schedule.wholeSchedule,
  content.unknownEvent,
  body.extraFields,
  schedule.longMemory,
  duplicates.lateEffects,
  content.malformedJson,
  connection.noRedirect,
  connection.goneStopsDelivery,
  disclosure.secretNotDisclosed,
  disclosure.signatureNotDisclosed,
];
