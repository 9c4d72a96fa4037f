import { formatSeconds } from "../../../engine/contract/text.ts";
import { sign } from "../../../engine/webhooks/sign.ts";
import { type Check, defineAcceptCheck, judgeDeferred, toOneEffectEach } from "../check.ts";
import { diagnoseRefusal } from "../diagnose-refusal.ts";
import { adviseOnAttempt, describeResult, STORE_THEN_ANSWER } from "../failure-kind.ts";
import {
  adviseIfLate,
  failed,
  getStatus,
  isAccepted,
  isDeferred,
  isRateLimited,
  isRefused,
  notObservable,
  passed,
  reportMissingProbe,
} from "../finding.ts";
import { defineCombinableAcceptCheck } from "./body.ts";

// Valid deliveries, their headers and fields, and one that is not JSON.

export const validAccepted: Check = {
  id: "valid-accepted",
  title: "Accepts a valid delivery within the deadline",
  severity: "critical",
  why: "An answer other than 2xx, or none in time, counts as a failure and the same delivery is sent again, up to six times.",
  advice: STORE_THEN_ANSWER,
  async run(session) {
    const delivery = session.makeDelivery();
    const first = await session.deliver(delivery);
    if (isAccepted(first)) return passed(`the receiver ${describeResult(first)}`, first);
    if (isRateLimited(first))
      return notObservable(`the receiver ${describeResult(first)}, again and again`, first);
    const detail = `the receiver ${describeResult(first)}, where 2xx is expected within ${session.options.timeoutMs / 1000} s`;
    const advice = adviseOnAttempt(first, session.options.names);
    if (getStatus(first) >= 500) {
      // If the receiver accepts the retry, the other checks still run.
      const retry = await session.deliver(delivery);
      return { ...failed(`${detail}; sent again, it ${describeResult(retry)}`, first), advice };
    }
    const diagnosis = await diagnoseRefusal(session);
    if (diagnosis === null) return { ...failed(detail, first), advice };
    const explanation = `${detail}. It accepts a delivery with another signature: ${diagnosis.cause}`;
    return { ...failed(explanation, first), advice: diagnosis.fix };
  },
};

/** The grader waits this many times as long for the first side effect, which shows how late they come. */
const FIRST_PATIENCE_FACTOR = 4;

export const validProcessed: Check = {
  id: "valid-processed",
  title: "Processes an accepted delivery exactly once",
  severity: "critical",
  why: "After a 2xx the service never sends a delivery again, so one that was acknowledged but not processed is lost.",
  advice: `Process exactly once what you acknowledge. ${STORE_THEN_ANSWER} The probe must show it.`,
  async run(session) {
    const { names, patienceMs } = session.options;
    const before = await session.readProbe();
    const delivery = session.makeDelivery();
    const attempt = await session.deliver(delivery);
    if (isDeferred(attempt)) return judgeDeferred(session, attempt, "a valid delivery");
    if (!isAccepted(attempt)) {
      const finding = failed(`the receiver ${describeResult(attempt)}, where 2xx is expected`, attempt);
      return { ...finding, advice: adviseOnAttempt(attempt, names) };
    }
    let effects = await session.observeEffects(before, toOneEffectEach([delivery]));
    let waitedMs = effects?.latenessMs ?? 0;
    for (let turn = 1; effects?.missing && turn < FIRST_PATIENCE_FACTOR; turn += 1) {
      effects = await session.observeEffects(before, toOneEffectEach([delivery]));
      waitedMs += effects!.latenessMs;
    }
    if (effects === null) return reportMissingProbe(session, "the answer is right, but ", attempt);
    if (effects.missing) {
      const detail = effects.difference!.replace(/, in [\d.]+ s$/, `, in ${formatSeconds(waitedMs)}`);
      session.shortenWaitingAfter(waitedMs);
      session.options.onNotice?.(`The first side effect did not happen. ${adviseIfLate(session)}`);
      return { ...failed(detail, attempt), advice: `${this.advice} ${adviseIfLate(session)}` };
    }
    if (effects.difference !== null) return failed(effects.difference, attempt);
    session.adaptToLateness(waitedMs);
    const finding = passed("the answer is right, and the probe shows exactly one side effect", attempt);
    if (waitedMs <= patienceMs) return finding;
    const note = `Its side effect happened ${formatSeconds(waitedMs)} after the answer, so the grader waits that long each time from here on. Raise ${names.patience} to ${Math.ceil((waitedMs * 1.5) / 1000)} s to wait that long from the start.`;
    session.options.onNotice?.(note);
    return { ...finding, note };
  },
};

export const unknownEvent = defineAcceptCheck({
  id: "unknown-event",
  title: "Accepts an event it doesn't know",
  severity: "major",
  why: "New events are added over time; if one is refused, the service retries it for hours, and 410 would disable the webhook.",
  advice: "Answer 2xx and ignore events that you have no use for.",
  adviceAppliesTo: ["bad-request", "not-found", "gone", "conflict", "invalid", "method", "exception"],
  cases: [
    { label: "webhook.test", shape: { event: "webhook.test" } },
    {
      label: "planet.discovered",
      shape: {
        event: "planet.discovered",
        data: { planet_id: "planet_1", name: "an event of a later version" },
      },
    },
  ],
});

export const headerNameCase = defineCombinableAcceptCheck({
  id: "header-name-case",
  title: "Accepts header names in any letter case",
  severity: "major",
  why: "Header names have no case: proxies and HTTP/2 turn them into lower case on the way.",
  advice:
    "Look headers up through the framework's case-insensitive accessor, not by comparing the names as sent.",
  adviceAppliesTo: ["bad-request", "unauthorized", "invalid", "exception"],
  cases: [
    { label: "lower-case names", variant: { headerNames: (name) => name.toLowerCase() } },
    { label: "upper-case names", variant: { headerNames: (name) => name.toUpperCase() } },
  ],
});

export const contentTypeCharset = defineCombinableAcceptCheck({
  id: "content-type-charset",
  title: "Accepts a charset in the content type",
  severity: "major",
  why: "`application/json; charset=utf-8` is the same media type; refusing it loses deliveries when a proxy adds the parameter.",
  advice: "Parse the media type and ignore its parameters, instead of comparing the whole header.",
  adviceAppliesTo: ["media-type", "bad-request", "unauthorized", "invalid", "exception"],
  cases: ["application/json; charset=utf-8", 'Application/JSON;charset="UTF-8"'].map((contentType) => ({
    label: contentType,
    variant: { contentType },
  })),
});

export const malformedJson: Check = {
  id: "malformed-json",
  title: "Refuses malformed JSON with a valid signature, and keeps running",
  severity: "major",
  why: "An exception while parsing must not end the process, nor be answered 5xx and so be retried for hours.",
  advice: "Catch the parser's error and answer 400.",
  adviceAppliesTo: ["exception", "hung-up"],
  async run(session) {
    const body = Buffer.from('{"event":"user.created","data":{"user_id":');
    const malformed = { ...session.makeDelivery(), body, signature: sign(session.options.secret, body) };
    const attempt = await session.deliver(malformed);
    const answer = `the receiver ${describeResult(attempt)}`;
    if (isDeferred(attempt)) return judgeDeferred(session, attempt, "malformed JSON");
    if (!isRefused(attempt)) return failed(`${answer}, where 4xx is expected`, attempt);
    const after = await session.deliver(session.makeDelivery());
    if (isRateLimited(after))
      return notObservable(
        `${answer}; whether it keeps running can't be seen: it ${describeResult(after)}`,
        after,
      );
    // A 503 fails: a gateway answers it while the process is down.
    if (!isAccepted(after))
      return failed(`a valid delivery after it: the receiver ${describeResult(after)}`, attempt);
    return passed(`${answer}, and accepted the next delivery`, attempt);
  },
};
