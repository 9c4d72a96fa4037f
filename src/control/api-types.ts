import type { Static } from "typebox";
import type { Bundle as BundleSchema } from "../bundle/bundle.ts";
import type { ReceiverAnswer } from "../receivers/receiver-answer.ts";
import type { ReceivedRequestBody } from "../receivers/simulated-receivers.ts";
import type { CoverageMatrix } from "../reports/coverage.ts";
import type { EmailBody } from "../webhooks/outbox.ts";
import type { SettingsInput } from "./check-settings.ts";
import type { ClockBody, ClockInput } from "./clock-input.ts";
import type { RuleBody, RuleInput, ScenarioBody } from "./faults-body.ts";
import type { RecordChangesBody } from "./history/record-changes.ts";
import type { HistoryEntryBody } from "./history/render-entry.ts";
import type { HarBody } from "./journal/har.ts";
import type { JournalEntryBody } from "./journal/render-entry.ts";
import type { LiveBody } from "./journal/stream-live.ts";
import type { VerificationBody } from "./journal/verify-journal.ts";
import type {
  AdvancedBody,
  AdvanceInput,
  ClockChangeBody,
  PendingBody,
  RanTimerBody,
} from "./operations/clock.ts";
import type { TriggeredBody, TriggerInput } from "./operations/events.ts";
import type {
  HistoryBody,
  HistoryDetailBody,
  HistoryQuery,
  RepeatedBody,
  RepeatInput,
  RewindInput,
  RewoundBody,
} from "./operations/history.ts";
import type { Expectation as ExpectationSchema, JournalBody, JournalQuery } from "./operations/journal.ts";
import type { ReceiverBody, ReceiverInput } from "./operations/receivers.ts";
import type { HealthBody, ResetInput, SandboxInput } from "./operations/sandboxes.ts";
import type { ActiveScenariosBody } from "./operations/scenarios.ts";
import type { SnapshotBody } from "./operations/snapshots.ts";
import type { ChangeQuery } from "./operations/state.ts";
import type { SandboxBody } from "./sandbox-body.ts";
import type { DifferenceBody } from "./snapshot-diff.ts";
import type { SnapshotFile as SnapshotFileSchema } from "./snapshot-input.ts";
import type { ShownRecords } from "./state/shown-records.ts";

/*
 * What a client of the control API gives and gets: its own schemas as types. Types alone are imported, so that the
 * library and the console load nothing of the server.
 */

/** `{items, total}`, as most lists are. */
export interface List<T> {
  items: T[];
  total: number;
}

export type { CoverageMatrix, ReceiverAnswer };

export type Health = Static<typeof HealthBody>;

export type SandboxOptions = Static<typeof SandboxInput>;
export type SandboxState = Static<typeof SandboxBody>;
export type ResetOptions = Static<typeof ResetInput>;
export type FixtureInput = NonNullable<SandboxOptions["fixture"]>;

/** Settings that are not named stay as they are. */
export type SettingsChange = Static<typeof SettingsInput>;

export type ClockState = Static<typeof ClockBody>;
export type ClockChange = Static<typeof ClockInput>;
/** The clock after a change, and what ran. */
export type ClockChanged = Static<typeof ClockChangeBody>;
export type AdvanceTo = Static<typeof AdvanceInput>;
export type Advanced = Static<typeof AdvancedBody>;
export type RanTimer = Static<typeof RanTimerBody>;
export type Pending = Static<typeof PendingBody>;

export type SnapshotState = Static<typeof SnapshotBody>;
export type SnapshotFile = Static<typeof SnapshotFileSchema>;
export type Difference = Static<typeof DifferenceBody>;

/** As it is armed, and as it is shown. */
export type RuleDefinition = Static<typeof RuleInput>;
export type FaultRule = Static<typeof RuleBody>;
export type ScenarioState = Static<typeof ScenarioBody>;
export type ActiveScenarios = Static<typeof ActiveScenariosBody>;

export type JournalFilter = Partial<Static<typeof JournalQuery>>;
export type JournalEntry = Static<typeof JournalEntryBody>;
export type JournalPage = Static<typeof JournalBody>;
/** One message of the stream that a page follows, and a request in it. */
export type Live = Static<typeof LiveBody>;
export type RequestLine = Live["requests"][number];
export type Expectation = Static<typeof ExpectationSchema>;
export type Verification = Static<typeof VerificationBody>;
export type HttpArchive = Static<typeof HarBody>;

export type HistoryFilter = Partial<Static<typeof HistoryQuery>>;
export type HistoryEntry = Static<typeof HistoryEntryBody>;
export type HistoryPage = Static<typeof HistoryBody>;
/** With the ids of its causes and effects. */
export type HistoryDetail = Static<typeof HistoryDetailBody>;
/** By collection, each record before and after. */
export type RecordChanges = Static<typeof RecordChangesBody>;
export type RewindOptions = Static<typeof RewindInput>;
export type Rewound = Static<typeof RewoundBody>;
/** Where a request is repeated, and under which rule. */
export type RepeatOptions = Static<typeof RepeatInput>;
export type Repeated = Static<typeof RepeatedBody>;

export type TriggerOptions = Omit<Static<typeof TriggerInput>, "event">;
export type Triggered = Static<typeof TriggeredBody>;
export type EventName = Static<typeof TriggerInput>["event"];
export type Email = Static<typeof EmailBody>;

export type ReceiverOptions = Static<typeof ReceiverInput>;
export type Receiver = Static<typeof ReceiverBody>;
export type ReceivedRequest = Static<typeof ReceivedRequestBody>;

/** On whose behalf a record is changed, and whether anybody hears of it. */
export type StateOptions = Partial<Static<typeof ChangeQuery>>;
/** Of a list of records. */
export type PageOptions = { limit?: number; offset?: number };
export type CollectionName = keyof ShownRecords;
/** A record of a collection, such as `StateRecord<"threads">`. */
export type StateRecord<C extends CollectionName = CollectionName> = ShownRecords[C];

export type Bundle = Static<typeof BundleSchema>;

/** The refusals of the control API (RFC 9457). */
export type { ProblemBody as ProblemDocument } from "../contract/problems.ts";
