import "../../src/hosts/node/platform.ts";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type TSchema, Type } from "typebox";
import { parse } from "yaml";
import packageJson from "../../package.json" with { type: "json" };
import { SettingsInput } from "../../src/control/check-input.ts";
import { ClockBody, ClockInput } from "../../src/control/clock-input.ts";
import { DeliveryDetail, ListedDelivery } from "../../src/control/delivery-detail.ts";
import { FleetBody } from "../../src/control/directory.ts";
import { HistoryEntryBody } from "../../src/control/history/render-history-entry.ts";
import { HarBody } from "../../src/control/journal/har.ts";
import { HeldBody } from "../../src/control/journal/render-held.ts";
import { JournalEntryBody } from "../../src/control/journal/render-journal-entry.ts";
import { VerificationBody } from "../../src/control/journal/verify-journal.ts";
import {
  AdvancedBody,
  AdvanceInput,
  ClockChangeBody,
  PendingBody,
  RanTimerBody,
} from "../../src/control/operations/clock.ts";
import { DeliveryQuery, RedeliverInput } from "../../src/control/operations/deliveries.ts";
import { TriggeredBody, TriggerInput } from "../../src/control/operations/events.ts";
import { ExplainInput, ExplanationBody } from "../../src/control/operations/explain.ts";
import { RuleBody, RuleInput } from "../../src/control/operations/faults.ts";
import { ReleaseInput } from "../../src/control/operations/held.ts";
import {
  HistoryBody,
  HistoryDetailBody,
  HistoryQuery,
  RepeatedBody,
  RepeatInput,
  RewindInput,
  RewoundBody,
} from "../../src/control/operations/history.ts";
import { CONTROL_OPERATIONS } from "../../src/control/operations/index.ts";
import { JournalBody, JournalQuery } from "../../src/control/operations/journal.ts";
import { Expectation } from "../../src/control/operations/journal-verify.ts";
import { OwnOperationsBody } from "../../src/control/operations/own-operations.ts";
import { ReceiverTestEvent, ReceiverTestInput } from "../../src/control/operations/receiver-test.ts";
import { ReceiverBody, ReceiverInput } from "../../src/control/operations/receivers.ts";
import { ResetInput, SandboxInput } from "../../src/control/operations/sandboxes.ts";
import { ActiveScenariosBody, ScenarioBody } from "../../src/control/operations/scenarios.ts";
import { HealthBody } from "../../src/control/operations/server.ts";
import { SnapshotBody } from "../../src/control/operations/snapshots.ts";
import { ChangeQuery } from "../../src/control/operations/state.ts";
import { SandboxBody } from "../../src/control/sandbox-body.ts";
import { DifferenceBody, RecordChangesBody } from "../../src/control/snapshot-diff.ts";
import { SnapshotFile } from "../../src/control/snapshot-input.ts";
import { LiveBody, RequestLine } from "../../src/control/stream-live.ts";
import { BindingFile } from "../../src/documents/openapi/binding-schema.ts";
import { listFixtureNames } from "../../src/documents/read-fixture.ts";
import { ScenarioLibrary } from "../../src/documents/scenario-library.ts";
import { SHIPPED_FIXTURES } from "../../src/documents/shipped-files.ts";
import { CATALOGUE } from "../../src/engine/contract/errors.ts";
import { ProblemBody } from "../../src/engine/contract/problems.ts";
import { removeInternalFields } from "../../src/engine/contract/public-view.ts";
import { createFixtureSchema } from "../../src/engine/fixtures/fixture-schema.ts";
import { ForwardedAnswer, ForwardedDelivery, ForwardedEvent } from "../../src/engine/receivers/forwarding.ts";
import { ReceiverAnswer } from "../../src/engine/receivers/receiver.ts";
import { ReceivedRequestBody } from "../../src/engine/receivers/simulated-receivers.ts";
import { API, RESOURCES } from "../../src/engine/resources/index.ts";
import { EmailBody } from "../../src/engine/webhooks/outbox.ts";
import { Bundle } from "../../src/tools/bundle/bundle.ts";
import { ReceiverReportBody } from "../../src/tools/grader/report-body.ts";
import { buildControlApiDocument } from "../../src/tools/reports/control-openapi.ts";
import { CoverageMatrix } from "../../src/tools/reports/coverage.ts";
import { buildEventCatalogue, CataloguedEvent } from "../../src/tools/reports/event-catalogue.ts";
import {
  buildFidelityLedger,
  FidelityLedger,
  renderAssumptionsPage,
  renderFidelityPage,
} from "../../src/tools/reports/fidelity.ts";
import { buildOpenApiDocument } from "../../src/tools/reports/openapi.ts";
import { type ApiDocument, renderApiPage } from "./api-page.ts";
import { renderEventsPage } from "./events-page.ts";
import { rewriteTables } from "./page-tables.ts";
import { createScenarioSchema, DIALECT } from "./scenario-schema.ts";

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
    "fixture.schema.json": toJsonText(createFixtureSchema(RESOURCES)),
    "scenario.schema.json": toJsonText(createScenarioSchema(API)),
    "binding.schema.json": toJsonText({ $schema: DIALECT, ...BindingFile }),
  };
}

/** Breaks lines of more than 150 characters, but neither tables nor code. */
function wrapLines(page: string): string {
  return page.replace(/^```[\s\S]*?^```$|^(?!\|).{151,}$/gm, (line) => {
    if (line.startsWith("```")) return line;
    const indent = line.startsWith("- ") ? "  " : "";
    const words = line.match(/(?:`[^`]*`|\S)+/g)!;
    return words.reduce((text, word) => {
      const length = text.length - text.lastIndexOf("\n");
      return length + word.length > 150 ? `${text}\n${indent}${word}` : `${text} ${word}`;
    });
  });
}

/** The source of the library's generated types (scripts/client-types.mjs). */
export const clientSchemas = { names: API_NAMES, schemas: API_SCHEMAS, records: RECORD_SCHEMAS };

/** Writes each list of words on one line, which keeps the package small. */
function toJsonText(value: unknown): string {
  const text = JSON.stringify(value, null, 1);
  const lists = text.replace(/\[\n\s+(?:"(?:[^"\\]|\\.)*",?\s+)+\]/g, (list) => list.replace(/\n\s+/g, " "));
  return `${lists}\n`;
}
