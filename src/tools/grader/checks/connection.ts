import { type Check, judgeDeferred } from "../check.ts";
import { adviseOnAttempt, describeResult } from "../failure-kind.ts";
import {
  type Finding,
  failed,
  getStatus,
  isAccepted,
  isDeferred,
  isDisabledBy410,
  notObservable,
  passed,
} from "../finding.ts";
import type { Attempt, Session } from "../session.ts";

// Connections, methods, and statuses that the service treats in a special way.

/** Deliveries in a row over one connection. */
const DELIVERIES_IN_A_ROW = 8;

export const connectionReuse: Check = {
  id: "connection-reuse",
  title: "Answers on a connection that it offered to keep",
  severity: "major",
  why: "The service sends further deliveries over a connection that the receiver said to keep; if it is closed or confused instead, every second delivery fails and comes a minute later.",
  advice:
    "Answer with `Connection: close` where connections aren't kept; else read each body to its end before answering, and keep idle connections for some seconds.",
  adviceAppliesTo: [
    "hung-up",
    "late",
    "no-http",
    "bad-request",
    "unauthorized",
    "not-found",
    "exception",
    "method",
  ],
  async run(session) {
    let reused = 0;
    let broken: Attempt | null = null;
    for (let sent = 0; sent < DELIVERIES_IN_A_ROW; sent += 1) {
      // Two deliveries to a slow receiver show that it keeps no connection, and four that every second one breaks.
      const enough = reused === 0 && broken === null ? 2 : 4;
      if (session.isSlow && sent === enough) break;
      const delivery = session.makeDelivery();
      const attempt = await session.deliverOnce(delivery, { reuse: true });
      if (isDeferred(attempt)) return judgeEarlyEnd(attempt, { sent, reused, isBroken: broken !== null });
      if (isAccepted(attempt)) {
        if (attempt.result.reused) reused += 1;
        continue;
      }
      const fresh = await session.deliverOnce(delivery, { reuse: false });
      // The connection is not the cause; other checks report this.
      if (!isAccepted(fresh))
        return notObservable(`also over a new connection the receiver ${describeResult(fresh)}`, fresh);
      if (!attempt.result.reused) continue;
      if (broken !== null) {
        session.reusesConnections = false;
        return failed(
          `twice a delivery failed over a connection that the receiver had offered to keep: it ${describeResult(attempt)}; over a new connection each was accepted. From here on every delivery gets a new connection`,
          attempt,
        );
      }
      // Once may be an accident of timing.
      broken = attempt;
    }
    const last = session.attempts.at(-1)!;
    if (reused === 0 && broken === null) return passed("it keeps no connections, and says so", last);
    return passed(`${reused} deliveries were answered over a connection that was kept`, last);
  },
};

/**
 * The finding if the receiver defers a delivery: earlier answers decide, unless a connection broke for an unknown
 * reason.
 */
function judgeEarlyEnd(
  attempt: Attempt,
  progress: { sent: number; reused: number; isBroken: boolean },
): Finding {
  const { sent, reused, isBroken } = progress;
  const end = `after ${sent} of ${DELIVERIES_IN_A_ROW} deliveries the receiver ${describeResult(attempt)}`;
  if (reused === 0 || isBroken) return notObservable(end, attempt);
  return passed(`${reused} deliveries were answered over a connection that was kept; ${end}`, attempt);
}

const METHODS = ["PUT", "PATCH", "DELETE"];

export const methodPostOnly: Check = {
  id: "method-post-only",
  title: "Accepts deliveries by POST only, and answers other methods without an error",
  severity: "minor",
  why: "A route that takes any method hides routing mistakes, and bypasses rules of proxies and firewalls that are written for POST.",
  advice:
    "Route POST only; answer 405 with `Allow: POST` (or 404) to other methods. A GET may say that the receiver is healthy.",
  adviceAppliesTo: ["exception"],
  async run(session) {
    for (const method of METHODS) {
      const finding = await checkMethod(session, method);
      if (finding !== null) return finding;
    }
    const attempt = await session.sendGet();
    const deferred = await explainIfPostDeferred(session, attempt, "GET");
    if (deferred !== null) return deferred;
    const status = getStatus(attempt);
    // Some servers answer 501 to an unknown method.
    if (status >= 500 && status !== 501)
      return failed(
        `GET: the receiver ${describeResult(attempt)}, where no server error is expected`,
        attempt,
      );
    return passed(
      `${METHODS.join(", ")} aren't accepted; to GET the receiver ${describeResult(attempt)}`,
      attempt,
    );
  },
};

/** Returns a finding if the receiver defers a POST too, since the answer then says nothing about the method. */
async function explainIfPostDeferred(
  session: Session,
  attempt: Attempt,
  method: string,
): Promise<Finding | null> {
  if (!isDeferred(attempt)) return null;
  const finding = await judgeDeferred(session, attempt, method);
  return finding.outcome === "not-observable" ? finding : null;
}

/** A receiver may answer 200 to every other method without processing: then a forged delivery gets 200 as well. */
async function checkMethod(session: Session, method: string): Promise<Finding | null> {
  const before = await session.readProbe();
  const delivery = session.makeDelivery();
  const genuine = await session.deliver(delivery, { method });
  if (!isAccepted(genuine)) return explainIfPostDeferred(session, genuine, method);
  const failure = failed(
    `${method}: a valid delivery was accepted: the receiver ${describeResult(genuine)}`,
    genuine,
  );
  const effects = await session.observeEffects(before, new Map([[delivery.id, 0]]));
  if (effects !== null) return effects.difference === null ? null : failure;
  const forged = await session.deliver({ ...session.makeDelivery(), signature: null }, { method });
  if (!isAccepted(forged)) return failure;
  return notObservable(
    `${method}: everything is answered 2xx, and only a probe could show whether it is processed`,
    genuine,
  );
}

export const noRedirect: Check = {
  id: "no-redirect",
  title: "Answers without a redirect",
  severity: "major",
  why: "The service doesn't follow redirects: a 3xx is a failed delivery, wherever it points.",
  advice:
    "Register the final URL (scheme, host and trailing slash as the server wants them), or let this route answer itself.",
  sendsNothing: true,
  run(session) {
    const answeredAttempts = session.attempts.filter(
      (attempt) => attempt.genuine && attempt.request.method === "POST" && getStatus(attempt) > 0,
    );
    const redirect = answeredAttempts.find((attempt) => Math.floor(getStatus(attempt) / 100) === 3);
    if (redirect) {
      const finding = failed(`a valid delivery: the receiver ${describeResult(redirect)}`, redirect);
      return { ...finding, advice: adviseOnAttempt(redirect, session.options.names) };
    }
    const last = answeredAttempts.at(-1);
    if (!last) return notObservable("no valid delivery was answered at all");
    return passed(`none of ${answeredAttempts.length} valid deliveries was answered with a redirect`, last);
  },
};

export const goneStopsDelivery: Check = {
  id: "gone-stops-delivery",
  title: "Never answers 410 by accident",
  severity: "critical",
  why: "410 asks the service to stop: it disables the webhook and cancels its pending retries, so nothing more arrives until someone enables it again.",
  advice:
    "Answer 410 only when the endpoint is retired for good; refuse with 400 or 401, and answer 2xx to what you ignore.",
  adviceAppliesTo: ["gone"],
  sendsNothing: true,
  run(session) {
    const answeredAttempts = session.attempts.filter(({ result }) => result.error === undefined);
    const disabling = answeredAttempts.find((attempt) => attempt.genuine && isDisabledBy410(attempt));
    if (disabling)
      return failed(
        "answered 410 to a genuine delivery: the webhook would now be disabled; nothing more was sent",
        disabling,
      );
    const refusal = answeredAttempts.find((attempt) => attempt.delivery && isDisabledBy410(attempt));
    if (refusal)
      return failed(
        "answered 410 to a forged delivery: after a change of secrets, genuine ones would get it too",
        refusal,
      );
    if (answeredAttempts.length === 0) return notObservable("nothing was answered");
    return passed(`none of ${answeredAttempts.length} answers was 410`, answeredAttempts[0]);
  },
};
