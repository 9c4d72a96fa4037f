import type { CommandModule } from "yargs";
import { CheckFailed, UsageError } from "../failure.ts";
import { isInteractive, print } from "../output.ts";
import { reportFiles, writeReports } from "../report-files.ts";

interface Options {
  endpoint: string;
  secret: string;
  probe: string | undefined;
  report: string[] | undefined;
  timeout: number;
  patience: number;
  ca: string | undefined;
  "service-name": string;
  json: boolean;
}

export const receiverTestCommand: CommandModule<object, Options> = {
  command: "receiver-test <endpoint>",
  describe: "Grade a webhook receiver and say what to mend",
  builder: (argv) =>
    argv
      .positional("endpoint", { type: "string", demandOption: true, describe: "The receiver's URL" })
      .option("secret", {
        type: "string",
        demandOption: true,
        describe: "The webhook's signing secret (whsec_…)",
      })
      .option("probe", {
        type: "string",
        describe: "URL that answers how many deliveries, or which ids, were processed",
      })
      .option("report", {
        type: "string",
        array: true,
        describe: "junit=FILE and html=FILE, repeatable or comma-separated",
      })
      .option("timeout", { type: "number", default: 30, describe: "Seconds that the receiver may take" })
      .option("patience", {
        type: "number",
        default: 3,
        describe: "Seconds that a side effect may follow its answer, and the receiver may take to be up",
      })
      .option("ca", {
        type: "string",
        requiresArg: true,
        describe: "Certificate file (PEM) to trust, for a receiver behind one of your own",
      })
      .option("service-name", {
        type: "string",
        default: "Service",
        describe: "Name in the User-Agent of deliveries",
      })
      .example(
        "$0 receiver-test http://127.0.0.1:3000/webhook --secret whsec_… --probe http://127.0.0.1:3000/processed",
        "Every check, side effects included",
      ) as never,
  async handler(options) {
    const reports = reportFiles(options.report);
    const [{ gradeReceiver, ReceiverTestUsageError }, { formatText }, { receiverHtml, receiverJunit }] =
      await Promise.all([
        import("../../grader/grade-receiver.ts"),
        import("../../grader/format-text.ts"),
        import("../../grader/receiver-report.ts"),
      ]);
    const stderr = process.stderr;
    const live = !options.json && isInteractive(stderr);
    const stop = new AbortController();
    process.once("SIGINT", () => stop.abort());
    try {
      const graded = await gradeReceiver({
        url: options.endpoint,
        secret: options.secret,
        probe: options.probe,
        timeoutMs: options.timeout * 1000,
        patienceMs: options.patience * 1000,
        serviceName: options["service-name"],
        caFile: options.ca,
        signal: stop.signal,
        onProgress: live
          ? ({ index, total, title }) => stderr.write(`\r\u001b[K[${index}/${total}] ${title}`)
          : undefined,
      });
      if (live) stderr.write("\r\u001b[K");
      writeReports(reports, { junit: () => receiverJunit(graded), html: () => receiverHtml(graded) });
      print(options.json, graded, formatText(graded, { colour: isInteractive(process.stdout) }));
      if (graded.verdict === "fail") process.exitCode = 1;
    } catch (error) {
      if (live) stderr.write("\r\u001b[K");
      if (error instanceof ReceiverTestUsageError) throw new UsageError(error.message);
      if (stop.signal.aborted) throw new CheckFailed("the grading was interrupted");
      throw error;
    }
  },
};
