import type { CheckReport, ReceiverReport } from "../../../types/control-api.ts";
import { InputError } from "../input.ts";

/** In ascending order. */
export const SEVERITIES = ["minor", "major", "critical"] as const;
export type Severity = CheckReport["severity"];
export type Outcome = CheckReport["outcome"];

/** The beginning of the detail of checks that were not run because grading had stopped. */
export const NOT_RUN = "Not run. ";

export interface GradeReceiverOptions {
  /** The signing secret that the receiver was given. */
  secret: string;
  /** Answers GET with the number of side effects so far, or the list of processed delivery ids. */
  probe?: string | undefined;
  /** Refuses to run without a probe, so that no run forgets to check side effects. */
  requireProbe?: boolean | undefined;
  /** Ids of the checks to run (default: all) and to leave out (default: none). `valid-accepted` always runs. */
  only?: readonly string[] | undefined;
  skip?: readonly string[] | undefined;
  /** The lowest severity whose failure fails the receiver; default `minor`, which means every failure. */
  failOn?: Severity | undefined;
  /** Values for fields of `data`, in every event that has them, such as the id of a user that the receiver knows. */
  data?: Readonly<Record<string, unknown>> | undefined;
  /** The event of deliveries whose event doesn't matter; default `user.created`. */
  event?: string | undefined;
  /** For each request, in milliseconds; the service itself waits 30 s (section 6.4). */
  timeoutMs?: number | undefined;
  /** How long a side effect may follow its answer, and how long a crashed receiver may take to be back; default 3 s. */
  patienceMs?: number | undefined;
  /** How long a receiver must know a delivery again; default 12 s. */
  memoryMs?: number | undefined;
  /** During how many other deliveries it must know one again; default 250. */
  memoryDeliveries?: number | undefined;
  /** How long the probe's reading must stay the same, in milliseconds; default 150. */
  settleMs?: number | undefined;
  /** The setting `service_name`, as in the User-Agent. */
  serviceName?: string | undefined;
  /** A file of certificates (PEM) to trust in addition to Node's own. */
  caFile?: string | undefined;
  /** Called as each check begins; `index` counts from 1. */
  onProgress?: ((progress: { index: number; total: number; title: string }) => void) | undefined;
  /** Called with notes that should not wait for the end of the run: that the receiver needs more patience. */
  onNotice?: ((notice: string) => void) | undefined;
  signal?: AbortSignal | undefined;
}

/** The URL, the probe, the secret or another option is wrong. That is wrong usage, not a failing receiver. */
export class ReceiverTestUsageError extends InputError {
  override readonly name = "ReceiverTestUsageError";
  /** The option at fault, if it is one of these. */
  readonly option: "url" | "probe" | "data" | "event" | "only" | "skip" | undefined;

  constructor(message: string, option?: ReceiverTestUsageError["option"]) {
    super(message);
    this.option = option;
  }
}

export type ReportedRequest = NonNullable<CheckReport["request"]>;

/** Whether a failure of this severity fails the receiver. */
export function failsReceiver({ severity }: Pick<CheckReport, "severity">, failOn: Severity): boolean {
  return SEVERITIES.indexOf(severity) >= SEVERITIES.indexOf(failOn);
}

/** The options that advice mentions, in the words of the interface through which the grader was called. */
export interface OptionNames {
  probe: string;
  patience: string;
  /** A memory longer than the minute before the first retry. */
  longMemory: string;
  knownUser: string;
  trustCertificate: string;
}

export const OPTION_NAMES = {
  cli: {
    probe: "--probe URL",
    patience: "--patience",
    longMemory: "--memory 70",
    knownUser: "--data user_id=usr_…",
    trustCertificate: "pass --ca FILE",
  },
  library: {
    probe: "the option probe",
    patience: "patienceMs",
    longMemory: "memoryMs: 70_000",
    knownUser: 'data: { user_id: "usr_…" }',
    trustCertificate: "pass caFile",
  },
  control: {
    probe: "the field probe",
    patience: "patience_seconds",
    longMemory: '"memory_seconds": 70',
    knownUser: '"data": {"user_id": "usr_…"}',
    trustCertificate: "start the server with NODE_EXTRA_CA_CERTS=FILE",
  },
} as const satisfies Record<string, OptionNames>;

/** Questions that only a look at the receiver's code can answer. */
export const listManualChecks = ({ longMemory }: OptionNames): ReceiverReport["manual_checks"] => [
  {
    what: "Whether signatures are compared in constant time",
    how: "Look for crypto.timingSafeEqual (Node), hmac.compare_digest (Python), hash_equals (PHP), hmac.Equal (Go), MessageDigest.isEqual (Java), Rack::Utils.secure_compare or OpenSSL.fixed_length_secure_compare (Ruby) where the header is compared; == or equals is not constant in time.",
  },
  {
    what: "Whether delivery ids are kept for 24 hours, and survive a restart",
    how: `Look at the code that writes them: use a table with a unique key and no expiry below a day. A Set, a Map or a cache in the process loses them when the process ends. With ${longMemory} the test waits longer than the minute before the first retry.`,
  },
  {
    what: "Whether work that was acknowledged survives a crash",
    how: "Between the 2xx and the side effect there must be something on disk: the side effect itself, or a row or message that a worker picks up again.",
  },
  {
    what: "Whether the event is taken from what is signed",
    how: "X-Service-Event and X-Service-Delivery are not covered by the signature: dispatch and deduplicate by the body's event and delivery_id.",
  },
];
