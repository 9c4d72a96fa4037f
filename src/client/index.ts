export { gradeReceiver } from "../grader/grade-receiver.ts";
export { type GradeReceiverOptions, ReceiverTestUsageError } from "../grader/grading-options.ts";
export type { CheckReport, Outcome, ReceiverReport, Severity } from "../grader/report.ts";
export { connect, type UnderstudyClient } from "./connect.ts";
export { type CreateOptions, createUnderstudy, type LocalUnderstudy } from "./create-understudy.ts";
export { ControlError, UnreachableError } from "./http.ts";
export { SandboxClient } from "./sandbox.ts";
export type * from "./types.ts";
