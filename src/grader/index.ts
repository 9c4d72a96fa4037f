// What the command line needs of the receiver test: loaded with the first of it that somebody asks for.
export { formatText } from "./format-text.ts";
export { gradeReceiver } from "./grade-receiver.ts";
export { ReceiverTestUsageError } from "./grading-options.ts";
export { receiverHtml, receiverJunit } from "./receiver-report.ts";
