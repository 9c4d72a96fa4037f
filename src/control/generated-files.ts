import "../hosts/node/platform.ts";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type TSchema, Type } from "typebox";
import { parse } from "yaml";
import packageJson from "../../package.json" with { type: "json" };
import { BindingFile } from "../documents/openapi/binding-schema.ts";
import { listFixtureNames } from "../documents/read-fixture.ts";
import { ScenarioLibrary } from "../documents/scenario-library.ts";
import { SHIPPED_FIXTURES } from "../documents/shipped-files.ts";
import { CATALOGUE } from "../engine/contract/errors.ts";
import { ProblemBody } from "../engine/contract/problems.ts";
import { removeInternalFields } from "../engine/contract/public-view.ts";
import { formatScenarioSchema } from "../engine/faults/rule-document.ts";
import { formatFixtureSchema } from "../engine/fixtures/fixture-schema.ts";
import { ForwardedAnswer, ForwardedDelivery, ForwardedEvent } from "../engine/receivers/forwarding.ts";
import { ReceiverAnswer } from "../engine/receivers/receiver.ts";
import { ReceivedRequestBody } from "../engine/receivers/simulated-receivers.ts";
import { API, RESOURCES } from "../engine/resources/index.ts";
import { EmailBody } from "../engine/webhooks/outbox.ts";
import { Bundle } from "../tools/bundle/bundle.ts";
import { ReceiverReportBody } from "../tools/grader/report-body.ts";
import { type ApiDocument, renderApiPage } from "../tools/reports/api-page.ts";
import { buildControlApiDocument } from "../tools/reports/control-openapi.ts";
import { CoverageMatrix } from "../tools/reports/coverage.ts";
import { buildEventCatalogue, CataloguedEvent, renderEventsPage } from "../tools/reports/event-catalogue.ts";
import {
  buildFidelityLedger,
  FidelityLedger,
  renderAssumptionsPage,
  renderFidelityPage,
} from "../tools/reports/fidelity.ts";
import { buildOpenApiDocument } from "../tools/reports/openapi.ts";
import { rewriteTables } from "../tools/reports/page-tables.ts";
import { SettingsInput } from "./check-input.ts";
import { ClockBody, ClockInput } from "./clock-input.ts";
import { DeliveryDetail, ListedDelivery } from "./delivery-body.ts";
import { FleetBody } from "./directory.ts";
import { HistoryEntryBody } from "./history/render-history-entry.ts";
import { HarBody } from "./journal/har.ts";
import { HeldBody } from "./journal/render-held.ts";
import { JournalEntryBody } from "./journal/render-journal-entry.ts";
import { VerificationBody } from "./journal/verify-journal.ts";
import {
  AdvancedBody,
  AdvanceInput,
  ClockChangeBody,
  PendingBody,
  RanTimerBody,
} from "./operations/clock.ts";
import { DeliveryQuery, RedeliverInput } from "./operations/deliveries.ts";
import { TriggeredBody, TriggerInput } from "./operations/events.ts";
import { ExplainInput, ExplanationBody } from "./operations/explain.ts";
import { RuleBody, RuleInput } from "./operations/faults.ts";
import { ReleaseInput } from "./operations/held.ts";
import {
  HistoryBody,
  HistoryDetailBody,
  HistoryQuery,
  RepeatedBody,
  RepeatInput,
  RewindInput,
  RewoundBody,
} from "./operations/history.ts";
import { CONTROL_OPERATIONS } from "./operations/index.ts";
import { JournalBody, JournalQuery } from "./operations/journal.ts";
import { Expectation } from "./operations/journal-verify.ts";
import { OwnOperationsBody } from "./operations/own-operations.ts";
import { ReceiverTestEvent, ReceiverTestInput } from "./operations/receiver-test.ts";
import { ReceiverBody, ReceiverInput } from "./operations/receivers.ts";
import { ResetInput, SandboxInput } from "./operations/sandboxes.ts";
import { ActiveScenariosBody, ScenarioBody } from "./operations/scenarios.ts";
import { HealthBody } from "./operations/server.ts";
import { SnapshotBody } from "./operations/snapshots.ts";
import { ChangeQuery } from "./operations/state.ts";
import { SandboxBody } from "./sandbox-body.ts";
import { DifferenceBody, RecordChangesBody } from "./snapshot-diff.ts";
import { SnapshotFile } from "./snapshot-input.ts";
import { LiveBody, RequestLine } from "./stream-live.ts";

/** Sets of names that are literal types of the library, so that a misspelt one does not compile. */
const API_NAMES: Readonly<Record<string, () => readonly string[]>> = {
  OperationId: () => API.operations.map(({ id }) => id),
  EventName: () => API.events.map(({ name }) => name),
  ErrorCode: () => Object.keys(CATALOGUE),
  ShippedScenario: () => new ScenarioLibrary({ api: API }).listNames(),
  ShippedFixture: () => listFixtureNames([SHIPPED_FIXTURES.folder]),
  ShippedUser: () => listUsers(readFileSync(join(SHIPPED_FIXTURES.folder, "reference.yaml"), "utf8")),
};

const listUsers = (fixture: string) =>
  (parse(fixture) as { users: { id: string }[] }).users.map(({ id }) => id);

/** A record of each collection, as state calls show it. */
const RECORD_SCHEMAS: Readonly<Record<string, TSchema>> = Object.fromEntries(
  RESOURCES.flatMap(({ collections = [] }) => collections)
    .filter(({ internal }) => !internal)
    .map(({ name, schema }) => [name, removeInternalFields(schema)]),
);

/** Requests and answers of the control API, by the names of the library's types. */
const API_SCHEMAS: Readonly<Record<string, TSchema>> = {
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
  Held: HeldBody,
  ReleaseOptions: ReleaseInput,
  ScenarioState: ScenarioBody,
  ActiveScenarios: ActiveScenariosBody,
  OwnOperations: OwnOperationsBody,
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

/** Pages with tables of calls, problems or settings. */
const PAGES = ["control-api.md", "errors-and-limits.md", "sandboxes-and-time.md"];

/**
 * The files under docs/ that are generated from the declarations, by name. Of pages only the tables are generated;
 * `read` returns the existing page.
 */
export async function generateFiles(read: (name: string) => string): Promise<Record<string, string>> {
  const openApi = buildOpenApiDocument(API, packageJson.version);
  const pages = {
    ...Object.fromEntries(PAGES.map((name) => [name, rewriteTables(read(name), CONTROL_OPERATIONS)])),
    "api.md": renderApiPage(openApi as unknown as ApiDocument),
    "events.md": renderEventsPage(buildEventCatalogue(API.events)),
    "fidelity.md": renderFidelityPage(buildFidelityLedger(API.operations)),
    "reference/assumptions.md": renderAssumptionsPage(),
  };
  return {
    ...Object.fromEntries(Object.entries(pages).map(([name, page]) => [name, wrapLines(page)])),
    "openapi.json": toJsonText(openApi),
    "control-api.json": toJsonText(buildControlApiDocument(CONTROL_OPERATIONS, packageJson.version)),
    "fixture.schema.json": formatFixtureSchema(RESOURCES),
    "scenario.schema.json": formatScenarioSchema(API),
    "binding.schema.json": `${JSON.stringify({ $schema: DIALECT, ...BindingFile }, null, 1)}\n`,
  };
}

/** Breaks lines of more than 150 characters, but neither tables nor code spans. */
function wrapLines(page: string): string {
  return page.replace(/^(?!\|).{151,}$/gm, (line) => {
    const indent = line.startsWith("- ") ? "  " : "";
    const words = line.match(/(?:`[^`]*`|\S)+/g)!;
    return words.reduce((text, word) => {
      const length = text.length - text.lastIndexOf("\n");
      return length + word.length > 150 ? `${text}\n${indent}${word}` : `${text} ${word}`;
    });
  });
}

const DIALECT = "https://json-schema.org/draft/2020-12/schema";

/** The source of the library's generated types (scripts/client-types.mjs). */
export const clientSchemas = { names: API_NAMES, schemas: API_SCHEMAS, records: RECORD_SCHEMAS };

/** Writes each list of words on one line, which keeps the package small. */
function toJsonText(value: unknown): string {
  const text = JSON.stringify(value, null, 1);
  const lists = text.replace(/\[\n\s+(?:"(?:[^"\\]|\\.)*",?\s+)+\]/g, (list) => list.replace(/\n\s+/g, " "));
  return `${lists}\n`;
}
