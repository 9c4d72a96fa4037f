import type { Severity } from "../../tools/grader/report.ts";
import {
  choice,
  command,
  flag,
  number,
  REPORT,
  readTypedValues,
  readUrlOption,
  splitIds,
  text,
  texts,
} from "../command.ts";
import { CheckFailed } from "../failure.ts";
import { createStatusLine, isInteractive, runInterruptible } from "../process.ts";
import { parseReportFiles, writeReports } from "../write-files.ts";

export const receiverTestCommand = command({
  command: "receiver-test <endpoint>",
  describe: "Grade a webhook receiver and say what to fix",
  args: { endpoint: "The receiver's URL" },
  options: {
    secret: text("The webhook's signing secret (whsec_…)", { demandOption: true }),
    probe: text("URL that returns the number of processed deliveries, or their ids"),
    "require-probe": flag("Refuse to run without --probe, so that side effects are always checked"),
    only: texts("Checks to run, by id; repeatable or comma-separated (valid-accepted always runs)"),
    skip: texts("Checks to leave out, by id; repeatable or comma-separated"),
    "fail-on": choice(["critical", "major", "minor"], "The lowest severity whose failure exits with 1", {
      default: "minor",
    }),
    data: texts("FIELD=VALUE in the data of each event that has the field, such as a known user_id"),
    event: text("Event of most deliveries, if the receiver ignores the default", { default: "user.created" }),
    ...REPORT,
    timeout: number("Seconds that the receiver may take to answer", { default: 30 }),
    patience: number("Seconds to wait for the receiver to start, and for each side effect", { default: 3 }),
    memory: number("Seconds after which the first delivery is sent again, as a duplicate", { default: 12 }),
    ca: text("Certificate file (PEM) to trust, for a receiver with a certificate of your own"),
    "service-name": text("Name in the User-Agent of deliveries", { default: "Service" }),
  },
  examples: [
    [
      "$0 receiver-test http://127.0.0.1:3000/webhook --secret whsec_… --probe http://127.0.0.1:3000/processed",
      "Every check, including side effects",
    ],
    ["$0 receiver-test URL --secret whsec_… --fail-on critical --skip body-large", "In CI"],
  ],
  async run(options) {
    const { json, secret, event } = options;
    const endpoint = readUrlOption("the endpoint", options.endpoint);
    const probe = options.probe === undefined ? undefined : readUrlOption("--probe", options.probe);
    const reports = parseReportFiles(options.report);
    const { gradeFor } = await import("../../tools/grader/run-grading.ts");
    const { OPTION_NAMES } = await import("../../tools/grader/report.ts");
    const { formatText, listReceiverCases, renderReceiverHtml } = await import(
      "../../tools/grader/receiver-report.ts"
    );
    const showStatus = createStatusLine(!json && isInteractive(process.stderr));
    const graded = await runInterruptible((signal) =>
      gradeFor({ names: OPTION_NAMES.cli }, endpoint, {
        secret,
        probe,
        event,
        signal,
        requireProbe: options["require-probe"],
        only: splitIds(options.only),
        skip: splitIds(options.skip),
        failOn: options["fail-on"] as Severity,
        data: readTypedValues("--data", options.data, "FIELD=VALUE"),
        memoryMs: options.memory * 1000,
        timeoutMs: options.timeout * 1000,
        patienceMs: options.patience * 1000,
        serviceName: options["service-name"],
        caFile: options.ca,
        onNotice(notice) {
          showStatus("");
          process.stderr.write(`${notice}\n`);
        },
        onProgress: ({ index, total, title }) => showStatus(`[${index}/${total}] ${title}`),
      })
        .catch((error: unknown) => {
          throw signal.aborted ? new CheckFailed("the grading was interrupted") : error;
        })
        .finally(() => showStatus("")),
    );
    const text = formatText(graded, { colour: isInteractive(process.stdout) });
    return {
      value: graded,
      text,
      styled: true,
      failed: graded.verdict === "fail",
      writeReports: () =>
        writeReports(reports, {
          cases: () => listReceiverCases(graded),
          html: () => renderReceiverHtml(graded),
        }),
    };
  },
});
