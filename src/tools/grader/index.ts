// What the command line and the control API need of the receiver test: loaded with the first of it that somebody asks for.
export { formatText } from "./format-text.ts";
export { gradeOver } from "./grade-over.ts";
export { gradeReceiver } from "./grade-receiver.ts";
export { ReceiverTestUsageError } from "./grading-options.ts";
export { requireGradable } from "./open-session.ts";
export { receiverHtml, receiverJunit } from "./receiver-report.ts";
