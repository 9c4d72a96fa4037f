import type { CommandModule } from "yargs";
import type { Severity } from "../../tools/grader/report.ts";
import { CheckFailed, UsageError } from "../failure.ts";
import { reportFiles, writeReports } from "../new-files.ts";
import { typedValue } from "../option-values.ts";
import { isInteractive, print, sayColoured } from "../output.ts";
import { untilStopped } from "../until-ended.ts";

interface Options {
  endpoint: string;
  secret: string;
  probe: string | undefined;
  "require-probe": boolean;
  only: string[] | undefined;
  skip: string[] | undefined;
  "fail-on": Severity;
  data: string[] | undefined;
  event: string;
  memory: number;
  report: string[] | undefined;
  timeout: number;
  patience: number;
  ca: string | undefined;
  "service-name": string;
  json: boolean;
}

export const receiverTestCommand: CommandModule<object, Options> = {
  command: "receiver-test <endpoint>",
  describe: "Grade a webhook receiver and say what to fix",
  builder: (argv) =>
    argv
      .positional("endpoint", { type: "string", demandOption: true, describe: "The receiver's URL" })
      .option("secret", {
        type: "string",
        requiresArg: true,
        demandOption: true,
        describe: "The webhook's signing secret (whsec_…)",
      })
      .option("probe", {
        type: "string",
        requiresArg: true,
        describe: "URL that answers how many deliveries, or which ids, were processed",
      })
      .option("require-probe", {
        type: "boolean",
        default: false,
        describe: "Refuse to run without --probe, so that side effects never go unseen",
      })
      .option("only", {
        type: "string",
        array: true,
        requiresArg: true,
        describe: "Checks to run, by id; repeatable or comma-separated (valid-accepted always runs)",
      })
      .option("skip", {
        type: "string",
        array: true,
        requiresArg: true,
        describe: "Checks to leave out, by id; repeatable or comma-separated",
      })
      .option("fail-on", {
        choices: ["critical", "major", "minor"] as const,
        default: "minor",
        describe: "The least severity whose failure makes the exit code 1",
      })
      .option("data", {
        type: "string",
        array: true,
        requiresArg: true,
        describe:
          "FIELD=VALUE in the data of every event that has the field, such as a user_id that is known",
      })
      .option("event", {
        type: "string",
        default: "user.created",
        requiresArg: true,
        describe: "Event of most deliveries, for a receiver that has no use for the default",
      })
      .option("report", {
        type: "string",
        requiresArg: true,
        array: true,
        describe: "junit=FILE and html=FILE, repeatable or comma-separated",
      })
      .option("timeout", {
        type: "number",
        requiresArg: true,
        default: 30,
        describe: "Seconds that the receiver may take",
      })
      .option("patience", {
        type: "number",
        requiresArg: true,
        default: 3,
        describe: "Seconds that a side effect may follow its answer, and the receiver may take to be up",
      })
      .option("memory", {
        type: "number",
        requiresArg: true,
        default: 12,
        describe: "Seconds after which the first delivery is sent again",
      })
      .option("ca", {
        type: "string",
        requiresArg: true,
        describe: "Certificate file (PEM) to trust, for a receiver behind one of your own",
      })
      .option("service-name", {
        type: "string",
        requiresArg: true,
        default: "Service",
        describe: "Name in the User-Agent of deliveries",
      })
      .example(
        "$0 receiver-test http://127.0.0.1:3000/webhook --secret whsec_… --probe http://127.0.0.1:3000/processed",
        "Every check, side effects included",
      )
      .example(
        "$0 receiver-test URL --secret whsec_… --fail-on critical --skip body-large",
        "In CI",
      ) as never,
  async handler(options) {
    const reports = reportFiles(options.report);
    const { gradeReceiver } = await import("../../tools/grader/grade-receiver.ts");
    const { ReceiverTestUsageError } = await import("../../tools/grader/report.ts");
    const { formatText, receiverHtml, receiverJunit } = await import("../../tools/grader/receiver-report.ts");
    const stderr = process.stderr;
    const live = !options.json && isInteractive(stderr);
    try {
      const graded = await untilStopped((signal) =>
        gradeReceiver(options.endpoint, {
          secret: options.secret,
          probe: options.probe,
          requireProbe: options["require-probe"],
          only: splitIds(options.only),
          skip: splitIds(options.skip),
          failOn: options["fail-on"],
          data: parseData(options.data),
          event: options.event,
          memoryMs: options.memory * 1000,
          timeoutMs: options.timeout * 1000,
          patienceMs: options.patience * 1000,
          serviceName: options["service-name"],
          caFile: options.ca,
          signal,
          onProgress: live
            ? ({ index, total, title }) => stderr.write(`\r\u001b[K[${index}/${total}] ${title}`)
            : undefined,
        }).catch((error: unknown) => {
          if (error instanceof ReceiverTestUsageError) throw new UsageError(error.message);
          throw signal.aborted ? new CheckFailed("the grading was interrupted") : error;
        }),
      );
      if (live) stderr.write("\r\u001b[K");
      writeReports(reports, { junit: () => receiverJunit(graded), html: () => receiverHtml(graded) });
      if (options.json) print(true, graded, "");
      else sayColoured(formatText(graded, { colour: isInteractive(process.stdout) }));
      if (graded.verdict === "fail") process.exitCode = 1;
    } catch (error) {
      if (live) stderr.write("\r\u001b[K");
      throw error;
    }
  },
};

function splitIds(given: readonly string[] | undefined): string[] | undefined {
  return given?.flatMap((text) => text.split(",")).map((text) => text.trim());
}

/** `user_id=usr_1`; a value that is JSON is read as JSON. @throws UsageError */
function parseData(assignments: readonly string[] = []): Record<string, unknown> {
  const pairs = assignments.map((assignment): [string, unknown] => {
    const mark = assignment.indexOf("=");
    if (mark < 1) throw new UsageError(`--data takes FIELD=VALUE, not "${assignment}"`);
    return [assignment.slice(0, mark), typedValue(assignment.slice(mark + 1))];
  });
  return Object.fromEntries(pairs);
}
