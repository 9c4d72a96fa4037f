export type { OnDelivery } from "../hosts/fetch/answer-deliveries.ts";
export type {
  ClientCheckReport,
  ClientReport,
  GradeClientOptions,
  RunClient,
} from "../tools/client-test/client-report-types.ts";
export { ClientTestUsageError } from "../tools/client-test/grade-client.ts";
export { gradeReceiver } from "../tools/grader/grade-receiver.ts";
export {
  type GradeReceiverOptions,
  type Outcome,
  ReceiverTestUsageError,
  type Severity,
} from "../tools/grader/report.ts";
export { connect, type UnderstudyClient } from "./connect.ts";
export { type CreateOptions, createUnderstudy, type LocalUnderstudy } from "./create-understudy.ts";
export { ControlError, UnreachableError } from "./http.ts";
export type { PageSandbox, PageStart } from "./page-start.ts";
export type { MatcherResult, ReceivedMatch, ReceivedMatchers, ReceivedOptions } from "./received.ts";
export { SandboxClient } from "./sandbox.ts";
export type { SandboxStart } from "./sandbox-start.ts";
// The types of Playwright's worker fixtures refer to these.
export type { TestOptions, TestServers } from "./test-sandbox.ts";
export { type TestSandboxes, testSandboxes } from "./test-sandbox.ts";
export type * from "./types.ts";
