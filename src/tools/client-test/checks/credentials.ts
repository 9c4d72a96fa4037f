import type { JournalEntry, ReceivedRequest } from "../../../../types/control-api.ts";
import { pluralize } from "../../../engine/contract/text.ts";
import {
  type ClientCheck,
  type ClientRun,
  describeRequest,
  failed,
  findHit,
  findTarget,
  getArrival,
  isRead,
  isTokenRequest,
  makeRule,
  NO_GET,
  notObservable,
  passed,
  usesToken,
} from "../client-check.ts";

const TOKEN_LIFETIME_S = 2;

const oneRefresh: ClientCheck = {
  id: "one-refresh",
  title: "refreshes an expired token once, however many requests wait for it",
  severity: "error",
  readsTime: true,
  advice:
    "Let all requests that got 401 wait for one and the same refresh; then send them again with its token.",
  stage: {
    settings: { token_lifetime_seconds: TOKEN_LIFETIME_S },
    rules(baseline) {
      if (!baseline.requests.some(isTokenRequest)) return "the client uses no access token";
      const target = findTarget(baseline, usesToken);
      if (target === undefined) return "the client made no request with a token";
      // The token has expired by the time at which this request is answered.
      const delay = (TOKEN_LIFETIME_S + 0.3) * 1000;
      return [makeRule(target, { times: 1, effect: { delay } })];
    },
  },
  read({ run }) {
    const refused = run.requests.filter((entry) => entry.status === 401 && !isTokenRequest(entry));
    const [first] = refused;
    if (first === undefined) return notObservable("no request was sent with the expired token");
    const refreshes = run.requests.filter(
      (entry) => isTokenRequest(entry) && getArrival(entry) >= getArrival(first),
    );
    if (refreshes.length === 0) return notObservable("it did not refresh the token after 401");
    // The new token expires after the same time, so only a second refresh well within that time is too soon.
    const validMs = TOKEN_LIFETIME_S * 1000 * 0.8;
    const isTooSoon = (entry: JournalEntry, position: number) =>
      refreshes
        .slice(0, position)
        .some(
          (before) =>
            before.principal === entry.principal && getArrival(entry) - getArrival(before) < validMs,
        );
    const finding = `${pluralize(refreshes.length, "refresh", "refreshes")} for ${pluralize(refused.length, "request")} with the expired token`;
    const evidence = [first, ...refreshes];
    return refreshes.some(isTooSoon) ? failed(finding, evidence) : passed(finding, evidence);
  },
};

const noCredentialsInUrls: ClientCheck = {
  id: "no-credentials-in-urls",
  title: "sends credentials in headers, never in a URL",
  severity: "error",
  advice: "URLs are written to logs and histories. Send keys and tokens in a header.",
  read({ baseline }) {
    // The timeline shows a secret in a path or query as asterisks.
    const leaks = baseline.requests.filter(
      (entry) => `${entry.path}?${entry.request.query}`.includes("***") && !isHandedOut(entry, baseline),
    );
    return leaks.length > 0
      ? failed(`${describeRequest(leaks[0]!)} has a credential in its URL`, leaks)
      : passed("no URL has a credential");
  },
};

/** Upload URLs are signed; the service itself hands them out. */
function isHandedOut({ path, sequence }: JournalEntry, { requests }: ClientRun): boolean {
  const earlier = requests.filter((one) => one.sequence < sequence);
  return earlier.some(({ response }) => JSON.stringify(response).includes(path));
}

const CREDENTIAL = /^(api-key|x-api-key|authorization|cookie)$/i;

const noCredentialsElsewhere: ClientCheck = {
  id: "no-credentials-elsewhere",
  title: "sends credentials to no other origin",
  severity: "warning",
  advice:
    "Follow a redirect to another origin without the key, or not at all: HTTP libraries drop Authorization there, but keep headers such as api-key.",
  stage: {
    async rules(baseline, sandbox) {
      const target = findTarget(baseline, isRead);
      if (target === undefined) return NO_GET;
      const { url } = await sandbox.receivers.add({ answers: [200] });
      const headers = { Location: toOtherHost(url) };
      return [makeRule(target, { times: 1, effect: { status: 307, headers } })];
    },
    async collect(sandbox) {
      const { items } = await sandbox.receivers.list();
      const requestLists = await Promise.all(items.map(({ id }) => sandbox.receivers.requests(id)));
      return requestLists.flatMap((list) => list.items);
    },
  },
  read({ run, collected }) {
    const hit = findHit(run);
    if (hit === undefined) return notObservable("the request that was to be redirected was not sent");
    const [request] = collected as ReceivedRequest[];
    if (request === undefined) return passed("it did not follow a redirect to another origin", [hit]);
    const sentCredential = Object.keys(request.headers).find((name) => CREDENTIAL.test(name));
    return sentCredential === undefined
      ? passed("it followed the redirect without credentials", [hit])
      : failed(`it sent ${sentCredential} to the origin of the redirect`, [hit]);
  },
};

/** The same server by another name, which is another origin. */
function toOtherHost(url: string): string {
  const other = new URL(url);
  other.hostname = other.hostname === "localhost" ? "127.0.0.1" : "localhost";
  return other.href;
}

export const CREDENTIAL_CHECKS: readonly ClientCheck[] = [
  oneRefresh,
  noCredentialsInUrls,
  noCredentialsElsewhere,
];
