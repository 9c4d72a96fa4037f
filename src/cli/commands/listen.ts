import type { CommandModule } from "yargs";
import type { ReceiverAnswer } from "../../receivers/receiver-answer.ts";
import { UsageError } from "../failure.ts";
import { onReaderGone, say, sayJson } from "../output.ts";

interface Options {
  port: number;
  host: string;
  answer: string[] | undefined;
  secret: string | undefined;
  json: boolean;
}

export const listenCommand: CommandModule<object, Options> = {
  command: "listen",
  describe: "Receive webhooks in the terminal, and judge their signatures",
  builder: (argv) =>
    argv
      .option("port", {
        type: "number",
        default: 4748,
        requiresArg: true,
        describe: "Port; 0 picks a free one",
      })
      .option("host", {
        type: "string",
        default: "127.0.0.1",
        requiresArg: true,
        describe: "Address to bind",
      })
      .option("answer", {
        type: "string",
        array: true,
        requiresArg: true,
        describe: "Answers in turn: a status, STATUS:DELAY, hang or reset; the last one repeats",
      })
      .option("secret", {
        type: "string",
        requiresArg: true,
        describe: "The webhook's secret (whsec_…); without it signatures are only shown",
      })
      .example("$0 listen --secret whsec_… --answer 500,500,200", "Two failures, then success")
      .example("$0 listen --answer 200:3s", "A slow receiver") as never,
  async handler({ port, host, answer, secret, json }) {
    const answers = (answer ?? ["200"]).flatMap((text) => text.split(/[,\s]+/)).map(answerOf);
    if (!Number.isInteger(port) || port < 0 || port > 65535)
      throw new UsageError(`--port takes a whole number from 0 to 65535, not ${port}`);
    if (secret === "") throw new UsageError("--secret is empty; leave it out to show signatures unjudged");
    const { createListener } = await import("../../receivers/listen.ts");
    const opening = createListener({
      port,
      host,
      answers,
      secret,
      onDelivery: (delivery, text) => {
        const { body, ...facts } = delivery;
        const line = JSON.stringify({ ...facts, body: body.toString("utf8") });
        say(json ? line : text);
      },
    });
    const listener = await opening.catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOTFOUND" && error.code !== "EADDRNOTAVAIL") throw error;
      throw new UsageError(`--host ${host} is no address of this machine`);
    });
    if (json) sayJson({ url: listener.url, pid: process.pid });
    else say(`Listening at ${listener.url}, on any path. Ctrl-C ends it.`);
    await new Promise<void>((resolve) => {
      process.once("SIGINT", resolve);
      process.once("SIGTERM", resolve);
      process.once("SIGHUP", resolve);
      onReaderGone(resolve);
    });
    await listener.close();
  },
};

/** @throws UsageError */
function answerOf(text: string): ReceiverAnswer {
  if (text === "hang" || text === "reset") return text;
  const [, status, delay] = /^([2-5]\d\d)(?::(\d+(?:\.\d+)?(?:ms|s|m)))?$/.exec(text) ?? [];
  if (status === undefined)
    throw new UsageError(
      `--answer takes statuses from 200 to 599, STATUS:DELAY, hang and reset, not "${text}"`,
    );
  return delay === undefined ? Number(status) : { status: Number(status), delay };
}
