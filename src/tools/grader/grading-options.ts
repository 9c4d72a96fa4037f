import type { Severity } from "./report.ts";

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
  /** The option at fault, where it is one of those that a caller of the control API gives. */
  readonly option: "url" | "probe" | "event" | "only" | "skip" | undefined;

  constructor(message: string, option?: ReceiverTestUsageError["option"]) {
    super(message);
    this.option = option;
  }
}
