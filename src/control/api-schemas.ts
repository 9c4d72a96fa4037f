import { readdirSync } from "node:fs";
import Type, { type TSchema } from "typebox";
import { ScenarioLibrary } from "../documents/scenario-library.ts";
import { SHIPPED_FIXTURES } from "../documents/shipped-files.ts";
import { CATALOGUE } from "../engine/contract/errors.ts";
import { ProblemBody } from "../engine/contract/problems.ts";
import { withoutInternal } from "../engine/contract/public-view.ts";
import { ForwardedAnswer, ForwardedDelivery, ForwardedEvent } from "../engine/receivers/forwarding.ts";
import { ReceiverAnswer } from "../engine/receivers/receiver.ts";
import { ReceivedRequestBody } from "../engine/receivers/simulated-receivers.ts";
import { API, RESOURCES } from "../engine/resources/index.ts";
import { EmailBody } from "../engine/webhooks/outbox.ts";
import { Bundle } from "../tools/bundle/bundle.ts";
import { ReceiverReportBody } from "../tools/grader/report-body.ts";
import { CoverageMatrix } from "../tools/reports/coverage.ts";
import { CataloguedEvent } from "../tools/reports/event-catalogue.ts";
import { FidelityLedger } from "../tools/reports/fidelity.ts";
import { SettingsInput } from "./check-settings.ts";
import { ClockBody, ClockInput } from "./clock-input.ts";
import { DeliveryQuery, RedeliverInput } from "./deliveries/chosen-deliveries.ts";
import { DeliveryDetail, ListedDelivery } from "./deliveries/shown-delivery.ts";
import { RuleBody, RuleInput, ScenarioBody } from "./faults-body.ts";
import { RecordChangesBody } from "./history/record-changes.ts";
import { HistoryEntryBody } from "./history/render-entry.ts";
import { HarBody } from "./journal/har.ts";
import { JournalEntryBody } from "./journal/render-entry.ts";
import { LiveBody, RequestLine } from "./journal/stream-live.ts";
import { VerificationBody } from "./journal/verify-journal.ts";
import {
  AdvancedBody,
  AdvanceInput,
  ClockChangeBody,
  PendingBody,
  RanTimerBody,
} from "./operations/clock.ts";
import { TriggeredBody, TriggerInput } from "./operations/events.ts";
import { ExplainInput, ExplanationBody } from "./operations/explain.ts";
import { FleetBody } from "./operations/fleet.ts";
import { HistoryBody, HistoryDetailBody, HistoryQuery } from "./operations/history.ts";
import { RepeatedBody, RepeatInput, RewindInput, RewoundBody } from "./operations/history-travel.ts";
import { JournalBody, JournalQuery } from "./operations/journal.ts";
import { Expectation } from "./operations/journal-verify.ts";
import { ReceiverTestEvent, ReceiverTestInput } from "./operations/receiver-test.ts";
import { ReceiverBody, ReceiverInput } from "./operations/receivers.ts";
import { HealthBody, ResetInput, SandboxInput } from "./operations/sandboxes.ts";
import { ActiveScenariosBody } from "./operations/scenarios.ts";
import { SnapshotBody } from "./operations/snapshots.ts";
import { ChangeQuery } from "./operations/state.ts";
import { SandboxBody } from "./sandbox-body.ts";
import { DifferenceBody } from "./snapshot-diff.ts";
import { SnapshotFile } from "./snapshot-input.ts";

/** Sets of names that the library's types spell out, so that a misspelt one does not compile. */
export const API_NAMES: Readonly<Record<string, () => readonly string[]>> = {
  OperationId: () => API.operations.map(({ id }) => id),
  EventName: () => API.events.map(({ name }) => name),
  ErrorCode: () => Object.keys(CATALOGUE),
  ShippedScenario: () => new ScenarioLibrary({ api: API }).names(),
  ShippedFixture: () => listNames(SHIPPED_FIXTURES.folder),
};

const listNames = (folder: string) =>
  readdirSync(folder)
    .filter((file) => file.endsWith(".yaml"))
    .map((file) => file.slice(0, -".yaml".length))
    .sort();

/** Of each collection that state calls reach, a record as they show it. */
export const RECORD_SCHEMAS: Readonly<Record<string, TSchema>> = Object.fromEntries(
  RESOURCES.flatMap(({ collections = [] }) => collections)
    .filter(({ internal }) => !internal)
    .map(({ name, schema }) => [name, withoutInternal(schema)]),
);

/** Requests and answers of the control API, by the names of the library's types. */
export const API_SCHEMAS: Readonly<Record<string, TSchema>> = {
  Health: HealthBody,
  Fleet: FleetBody,
  SandboxOptions: SandboxInput,
  SandboxState: SandboxBody,
  ResetOptions: ResetInput,
  SettingsChange: SettingsInput,
  ClockState: ClockBody,
  ClockChange: ClockInput,
  ClockChanged: ClockChangeBody,
  AdvanceTo: AdvanceInput,
  Advanced: AdvancedBody,
  RanTimer: RanTimerBody,
  Pending: PendingBody,
  SnapshotState: SnapshotBody,
  SnapshotFile,
  Difference: DifferenceBody,
  RuleDefinition: RuleInput,
  FaultRule: RuleBody,
  ExplainInput,
  Explanation: ExplanationBody,
  ScenarioState: ScenarioBody,
  ActiveScenarios: ActiveScenariosBody,
  JournalFilter: Type.Partial(JournalQuery),
  JournalEntry: JournalEntryBody,
  JournalPage: JournalBody,
  Live: LiveBody,
  RequestLine,
  Expectation,
  Verification: VerificationBody,
  HttpArchive: HarBody,
  HistoryFilter: Type.Partial(HistoryQuery),
  HistoryEntry: HistoryEntryBody,
  HistoryPage: HistoryBody,
  HistoryDetail: HistoryDetailBody,
  RecordChanges: RecordChangesBody,
  RewindOptions: RewindInput,
  Rewound: RewoundBody,
  RepeatOptions: RepeatInput,
  Repeated: RepeatedBody,
  TriggerOptions: Type.Omit(TriggerInput, ["event"]),
  Triggered: TriggeredBody,
  DeliveryFilter: Type.Partial(DeliveryQuery),
  ListedDelivery,
  DeliveryDetail,
  RedeliverOptions: RedeliverInput,
  CataloguedEvent,
  Email: EmailBody,
  ReceiverOptions: ReceiverInput,
  Receiver: ReceiverBody,
  ReceiverAnswer,
  ReceivedRequest: ReceivedRequestBody,
  ForwardedDelivery,
  ForwardedEvent,
  ForwardedAnswer,
  ReceiverTestOptions: ReceiverTestInput,
  ReceiverTestEvent,
  ReceiverReport: ReceiverReportBody,
  StateOptions: Type.Partial(ChangeQuery),
  Bundle,
  CoverageMatrix,
  FidelityLedger,
  ProblemDocument: ProblemBody,
};
