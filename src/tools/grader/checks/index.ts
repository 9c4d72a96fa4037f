import type { Check } from "../check.ts";
import { bodyChanged } from "./body-changed.ts";
import { bodyChunked } from "./body-chunked.ts";
import { bodyKeyOrder } from "./body-key-order.ts";
import { bodyLarge } from "./body-large.ts";
import { bodyUnicodeEscapes } from "./body-unicode-escapes.ts";
import { bodyUnicodeForms } from "./body-unicode-forms.ts";
import { bodyUtf8 } from "./body-utf8.ts";
import { bodyWhitespace } from "./body-whitespace.ts";
import { connectionReuse } from "./connection-reuse.ts";
import { contentTypeCharset } from "./content-type-charset.ts";
import { distinctAtOnce } from "./distinct-at-once.ts";
import { distinctDeliveries } from "./distinct-deliveries.ts";
import { duplicate } from "./duplicate.ts";
import { duplicateAtOnce } from "./duplicate-at-once.ts";
import { extraFields } from "./extra-fields.ts";
import { forgeryBeforeOriginal } from "./forgery-before-original.ts";
import { goneStopsDelivery } from "./gone-stops-delivery.ts";
import { headerNameCase } from "./header-name-case.ts";
import { lateEffects } from "./late-effects.ts";
import { longMemory } from "./long-memory.ts";
import { malformedJson } from "./malformed-json.ts";
import { methodPostOnly } from "./method-post-only.ts";
import { noRedirect } from "./no-redirect.ts";
import { outOfOrder } from "./out-of-order.ts";
import { retryAfter5xx } from "./retry-after-5xx.ts";
import { secretNotDisclosed } from "./secret-not-disclosed.ts";
import { signatureBehindProxy } from "./signature-behind-proxy.ts";
import { signatureEmpty } from "./signature-empty.ts";
import { signatureEveryEvent } from "./signature-every-event.ts";
import { signatureEveryForm } from "./signature-every-form.ts";
import { signatureMissing } from "./signature-missing.ts";
import { signatureNearlyRight } from "./signature-nearly-right.ts";
import { signatureNotDisclosed } from "./signature-not-disclosed.ts";
import { signatureSurrounded } from "./signature-surrounded.ts";
import { signatureTruncated } from "./signature-truncated.ts";
import { signatureUpperCase } from "./signature-upper-case.ts";
import { signatureWrongEncoding } from "./signature-wrong-encoding.ts";
import { signatureWrongPrefix } from "./signature-wrong-prefix.ts";
import { signatureWrongSecret } from "./signature-wrong-secret.ts";
import { timeoutAfterCommit } from "./timeout-after-commit.ts";
import { unknownEvent } from "./unknown-event.ts";
import { validAccepted } from "./valid-accepted.ts";
import { validProcessed } from "./valid-processed.ts";
import { wholeSchedule } from "./whole-schedule.ts";

/** Always run: a refusal proves nothing where nothing is accepted. */
export const FIRST_CHECK = validAccepted;

/**
 * Every check, in the order in which they run and are reported. `long-memory` and `malformed-json` stand behind
 * the others that send, since one may exhaust a rate limit and the other may take the receiver down; the ones
 * at the end judge all that was exchanged before.
 */
export const CHECKS: readonly Check[] = [
  FIRST_CHECK,
  connectionReuse,
  validProcessed,
  signatureMissing,
  signatureEmpty,
  signatureTruncated,
  signatureNearlyRight,
  signatureSurrounded,
  signatureWrongPrefix,
  signatureWrongEncoding,
  signatureUpperCase,
  signatureWrongSecret,
  signatureBehindProxy,
  signatureEveryEvent,
  signatureEveryForm,
  bodyChanged,
  bodyWhitespace,
  bodyKeyOrder,
  bodyUnicodeEscapes,
  bodyUtf8,
  bodyUnicodeForms,
  headerNameCase,
  contentTypeCharset,
  bodyLarge,
  bodyChunked,
  methodPostOnly,
  duplicate,
  duplicateAtOnce,
  retryAfter5xx,
  distinctDeliveries,
  distinctAtOnce,
  forgeryBeforeOriginal,
  outOfOrder,
  timeoutAfterCommit,
  wholeSchedule,
  unknownEvent,
  extraFields,
  longMemory,
  lateEffects,
  malformedJson,
  noRedirect,
  goneStopsDelivery,
  secretNotDisclosed,
  signatureNotDisclosed,
];
