import { nearest } from "../../engine/contract/text.ts";
import type { Check } from "./check.ts";
import { CHECKS, FIRST_CHECK } from "./checks/index.ts";
import { DATA_FIELDS, freshId, SENT_EVENTS } from "./delivery.ts";
import { type GraderNetwork, openNetwork } from "./network.ts";
import { Probe } from "./probe.ts";
import { type GradeReceiverOptions, ReceiverTestUsageError, SEVERITIES } from "./report.ts";
import { Session } from "./session.ts";

/** A day, long before timers overflow. */
const MAX_DURATION_MS = 86_400_000;
const MAX_MEMORY_DELIVERIES = 100_000;

/** @throws ReceiverTestUsageError */
export function openSession(
  receiverUrl: string,
  options: GradeReceiverOptions,
  network?: GraderNetwork,
): Session {
  const { secret, signal, data = {}, event = "user.created", memoryDeliveries = 250 } = options;
  if (secret === "") throw new ReceiverTestUsageError("the signing secret is empty");
  if (options.requireProbe && options.probe === undefined) {
    throw new ReceiverTestUsageError("a probe is required, and none is given");
  }
  const timeoutMs = requireDuration("timeout", options.timeoutMs ?? 30_000);
  if (timeoutMs === 0) throw new ReceiverTestUsageError("the timeout must be more than 0 seconds");
  const patienceMs = requireDuration("patience", options.patienceMs ?? 3000);
  const memoryMs = requireDuration("memory", options.memoryMs ?? 12_000);
  if (
    !(
      Number.isInteger(memoryDeliveries) &&
      memoryDeliveries >= 0 &&
      memoryDeliveries <= MAX_MEMORY_DELIVERIES
    )
  ) {
    throw new ReceiverTestUsageError(
      `the number of deliveries in between must be a whole number up to ${MAX_MEMORY_DELIVERIES}`,
    );
  }
  requireKnown("field of an event's data", Object.keys(data), { all: [...DATA_FIELDS] });
  requireKnown("event", [event], { all: SENT_EVENTS, option: "event" });
  const url = readUrl("receiver", receiverUrl);
  const probe = options.probe === undefined ? null : readUrl("probe", options.probe);
  const settleMs = options.settleMs ?? 150;
  const { outbound, locate } = network ?? openNetwork(options.caFile);
  return new Session({
    ...{
      url,
      outbound,
      locate,
      timeoutMs,
      patienceMs,
      memoryMs,
      memoryDeliveries,
      secret,
      event,
      data,
      signal,
    },
    webhookId: freshId("wh"),
    organizationId: freshId("org"),
    serviceName: options.serviceName ?? "Service",
    probe: probe && new Probe({ url: probe, outbound, timeoutMs, patienceMs, settleMs, signal }),
  });
}

/** Nothing is sent. @throws ReceiverTestUsageError where `gradeReceiver` would */
export function requireGradable(url: string, options: GradeReceiverOptions): void {
  chosenChecks(options);
  openSession(url, options).options.outbound.close();
}

/** The checks to run, in their order. @throws ReceiverTestUsageError */
export function chosenChecks({ only, skip = [], failOn = "minor" }: GradeReceiverOptions): readonly Check[] {
  requireKnown("severity", [failOn], { all: SEVERITIES });
  const ids = CHECKS.map(({ id }) => id);
  requireKnown("check", only ?? [], { all: ids, option: "only" });
  requireKnown("check", skip, { all: ids, option: "skip" });
  if (skip.includes(FIRST_CHECK.id)) {
    throw new ReceiverTestUsageError(
      `${FIRST_CHECK.id} can't be left out: without it no refusal proves anything`,
      "skip",
    );
  }
  return CHECKS.filter(
    (check) => check === FIRST_CHECK || ((only?.includes(check.id) ?? true) && !skip.includes(check.id)),
  );
}

function requireKnown(
  what: string,
  given: readonly string[],
  { all, option }: { all: readonly string[]; option?: ReceiverTestUsageError["option"] },
): void {
  const unknown = given.find((one) => !all.includes(one));
  if (unknown === undefined) return;
  const meant = nearest(unknown, all);
  // Where no known word is near, all of them are listed.
  const hint = meant === undefined ? `take one of ${all.join(", ")}` : `did you mean "${meant}"?`;
  throw new ReceiverTestUsageError(`there is no ${what} "${unknown.slice(0, 80)}"; ${hint}`, option);
}

function requireDuration(what: string, ms: number): number {
  if (ms >= 0 && ms <= MAX_DURATION_MS) return ms;
  throw new ReceiverTestUsageError(`the ${what} must be from 0 to ${MAX_DURATION_MS / 1000} seconds`);
}

/** G23: http or https, absolute, no credentials in it. */
function readUrl(what: "receiver" | "probe", text: string): URL {
  const option = what === "probe" ? "probe" : "url";
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || !["http:", "https:"].includes(url.protocol)) {
    throw new ReceiverTestUsageError(
      `the ${what} URL must be an absolute http or https URL, not "${text}"`,
      option,
    );
  }
  if (url.username !== "" || url.password !== "") {
    throw new ReceiverTestUsageError(`the ${what} URL must not contain credentials`, option);
  }
  url.hash = "";
  return url;
}
