import { type ControlOperation, operation } from "../operation.ts";
import { BUNDLE_OPERATIONS } from "./bundle.ts";
import { CLOCK_OPERATIONS } from "./clock.ts";
import { COVERAGE_OPERATIONS } from "./coverage.ts";
import { DELIVERY_OPERATIONS } from "./deliveries.ts";
import { EVENT_OPERATIONS } from "./events.ts";
import { EXPLAIN_OPERATIONS } from "./explain.ts";
import { FAULT_OPERATIONS } from "./faults.ts";
import { HELD_OPERATIONS } from "./held.ts";
import { HISTORY_OPERATIONS } from "./history.ts";
import { JOURNAL_OPERATIONS } from "./journal.ts";
import { OWN_OPERATIONS } from "./own-operations.ts";
import { RECEIVER_TEST_OPERATIONS } from "./receiver-test.ts";
import { RECEIVER_OPERATIONS } from "./receivers.ts";
import { SANDBOX_FILE_OPERATIONS } from "./sandbox-file.ts";
import { SANDBOX_OPERATIONS } from "./sandboxes.ts";
import { SCENARIO_OPERATIONS } from "./scenarios.ts";
import { OpenApiDocument, SERVER_OPERATIONS } from "./server.ts";
import { SNAPSHOT_OPERATIONS } from "./snapshots.ts";
import { STATE_OPERATIONS } from "./state.ts";

/** The whole control API (interfaces.md 4), one list per area; a new area adds its own here. */
export const CONTROL_OPERATIONS: readonly ControlOperation[] = [
  ...SANDBOX_OPERATIONS,
  ...SNAPSHOT_OPERATIONS,
  ...CLOCK_OPERATIONS,
  ...STATE_OPERATIONS,
  ...SCENARIO_OPERATIONS,
  ...OWN_OPERATIONS,
  ...FAULT_OPERATIONS,
  ...EXPLAIN_OPERATIONS,
  ...HELD_OPERATIONS,
  ...JOURNAL_OPERATIONS,
  ...HISTORY_OPERATIONS,
  ...EVENT_OPERATIONS,
  ...DELIVERY_OPERATIONS,
  ...RECEIVER_OPERATIONS,
  ...RECEIVER_TEST_OPERATIONS,
  ...COVERAGE_OPERATIONS,
  ...BUNDLE_OPERATIONS,
  ...SANDBOX_FILE_OPERATIONS,
  ...SERVER_OPERATIONS,
  // Here, since it describes this whole list.
  operation({
    id: "server.api",
    section: "interfaces 11",
    route: "GET /_control/api.json",
    summary: "Show the OpenAPI document of the control API",
    success: { status: 200, schema: OpenApiDocument },
    async handle({ server, site }) {
      const { buildControlApiDocument } = await import("../../tools/reports/control-openapi.ts");
      return buildControlApiDocument(CONTROL_OPERATIONS, server.version, site);
    },
  }),
];
