import { closest } from "fastest-levenshtein";
import type { Check } from "./check.ts";
import { CHECKS, FIRST_CHECK } from "./checks/index.ts";
import { freshId } from "./delivery.ts";
import { DATA_FIELDS, SENT_EVENTS } from "./event-data.ts";
import { Probe } from "./probe.ts";
import { SEVERITIES, type Severity } from "./report.ts";
import { openOutbound } from "./send-raw.ts";
import { Session } from "./session.ts";

export interface GradeReceiverOptions {
  /** The signing secret that the receiver was given. */
  secret: string;
  /** Answers GET with the number of side effects so far, or the list of processed delivery ids. */
  probe?: string | undefined;
  /** A receiver without a probe is wrong usage, so that side effects are never left unseen by oversight. */
  requireProbe?: boolean | undefined;
  /** Checks to run (all), and to leave out (none), by id. `valid-accepted` always runs. */
  only?: readonly string[] | undefined;
  skip?: readonly string[] | undefined;
  /** The least severity whose failure fails the receiver; default `minor`, which is any. */
  failOn?: Severity | undefined;
  /** Fields of data that every event has which knows them, such as the id of a user that the receiver knows. */
  data?: Readonly<Record<string, unknown>> | undefined;
  /** The event of deliveries whose event doesn't matter; default `user.created`. */
  event?: string | undefined;
  /** For each request, in milliseconds; the service itself waits 30 s (6.4). */
  timeoutMs?: number | undefined;
  /** How long a side effect may follow its answer, and how long a crashed receiver may take to be back; default 3 s. */
  patienceMs?: number | undefined;
  /** After how long, and behind how many others, a delivery is repeated; default 12 s and 250. */
  memoryMs?: number | undefined;
  memoryDeliveries?: number | undefined;
  /** How long the probe must stand still to be believed, in milliseconds; default 150. */
  settleMs?: number | undefined;
  /** The setting `service_name`, as in the User-Agent. */
  serviceName?: string | undefined;
  /** A file of certificates (PEM) to trust beside Node's own. */
  caFile?: string | undefined;
  /** Called as each check begins; `index` counts from 1. */
  onProgress?: ((progress: { index: number; total: number; title: string }) => void) | undefined;
  signal?: AbortSignal | undefined;
}

/** The URL, probe, secret or another option can't be used: wrong usage, not a failing receiver. */
export class ReceiverTestUsageError extends Error {
  override readonly name = "ReceiverTestUsageError";
}

/** Beyond a day, and long before timers overflow. */
const MAX_DURATION_MS = 86_400_000;
const MAX_MEMORY_DELIVERIES = 100_000;

/** @throws ReceiverTestUsageError */
export function openSession(receiverUrl: string, options: GradeReceiverOptions): Session {
  const { secret, signal, data = {}, event = "user.created", memoryDeliveries = 250 } = options;
  if (secret === "") throw new ReceiverTestUsageError("the signing secret is empty");
  if (options.requireProbe && options.probe === undefined) {
    throw new ReceiverTestUsageError("a probe is required, and none is given");
  }
  const timeoutMs = duration("timeout", options.timeoutMs ?? 30_000);
  if (timeoutMs === 0) throw new ReceiverTestUsageError("the timeout must be more than 0 seconds");
  const patienceMs = duration("patience", options.patienceMs ?? 3000);
  const memoryMs = duration("memory", options.memoryMs ?? 12_000);
  if (
    !(
      Number.isInteger(memoryDeliveries) &&
      memoryDeliveries >= 0 &&
      memoryDeliveries <= MAX_MEMORY_DELIVERIES
    )
  ) {
    throw new ReceiverTestUsageError(
      `the others in between are a whole number up to ${MAX_MEMORY_DELIVERIES}`,
    );
  }
  known("field of an event's data", Object.keys(data), [...DATA_FIELDS]);
  known("event", [event], SENT_EVENTS);
  const url = readUrl("receiver", receiverUrl);
  const probe = options.probe === undefined ? null : readUrl("probe", options.probe);
  const settleMs = options.settleMs ?? 150;
  const outbound = openOutbound(options.caFile);
  return new Session({
    ...{ url, outbound, timeoutMs, patienceMs, memoryMs, memoryDeliveries, secret, event, data, signal },
    webhookId: freshId("wh"),
    organizationId: freshId("org"),
    serviceName: options.serviceName ?? "Service",
    probe: probe && new Probe({ url: probe, outbound, timeoutMs, patienceMs, settleMs, signal }),
  });
}

/** The checks to run, in their order. @throws ReceiverTestUsageError */
export function chosenChecks({ only, skip = [], failOn = "minor" }: GradeReceiverOptions): readonly Check[] {
  known("severity", [failOn], SEVERITIES);
  const ids = CHECKS.map(({ id }) => id);
  known("check", [...(only ?? []), ...skip], ids);
  if (skip.includes(FIRST_CHECK.id)) {
    throw new ReceiverTestUsageError(
      `${FIRST_CHECK.id} can't be left out: without it no refusal proves anything`,
    );
  }
  return CHECKS.filter(
    (check) => check === FIRST_CHECK || ((only?.includes(check.id) ?? true) && !skip.includes(check.id)),
  );
}

function known(what: string, given: readonly string[], all: readonly string[]): void {
  const unknown = given.find((one) => !all.includes(one));
  if (unknown === undefined) return;
  throw new ReceiverTestUsageError(
    `there is no ${what} "${unknown.slice(0, 80)}"; did you mean "${closest(unknown.slice(0, 80), all)}"?`,
  );
}

function duration(what: string, ms: number): number {
  if (ms >= 0 && ms <= MAX_DURATION_MS) return ms;
  throw new ReceiverTestUsageError(`the ${what} must be from 0 to ${MAX_DURATION_MS / 1000} seconds`);
}

/** G23: http or https, absolute, no credentials in it. */
function readUrl(what: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || !["http:", "https:"].includes(url.protocol)) {
    throw new ReceiverTestUsageError(`the ${what} URL must be an absolute http or https URL, not "${text}"`);
  }
  if (url.username !== "" || url.password !== "") {
    throw new ReceiverTestUsageError(`the ${what} URL must not hold credentials`);
  }
  url.hash = "";
  return url;
}
