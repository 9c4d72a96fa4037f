import type { UnderstudyClient } from "../../client/connect.ts";
import type { SimulatedAnswer } from "../../engine/receivers/receiver.ts";
import type { ReceivedDelivery } from "../../tools/receivers/listen.ts";
import {
  listGivenTargetOptions,
  number,
  openSandbox,
  type ParsedOptions,
  readUrlOption,
  requirePort,
  serverCommand,
  type Target,
  text,
  texts,
} from "../command.ts";
import { UsageError } from "../failure.ts";
import type { SubscribedEvents } from "../forward-deliveries.ts";
import { onOutputLost, onTermination, printError, printJsonLine, printLines } from "../process.ts";

const DEFAULT_PORT = 4748;

const OPTIONS = {
  port: number(`Port; ${DEFAULT_PORT} by default, 0 picks a free one`),
  host: text("Address to bind; 127.0.0.1 by default"),
  answer: texts("Answers in turn: a status, STATUS:DELAY, hang or reset; the last one repeats"),
  secret: text("The webhook's secret (whsec_…); without it signatures are shown and not checked"),
  "forward-to": text("Forward the sandbox's deliveries to this URL, also from a remote server", {
    conflicts: ["port", "host", "answer"],
  }),
  events: texts("With --forward-to: only these events", { implies: "forward-to" }),
  organization: text("With --forward-to: its organization, by id; by default the first", {
    implies: "forward-to",
  }),
};
type ListenOptions = ParsedOptions<typeof OPTIONS> & Target;

export const listenCommand = serverCommand({
  command: "listen",
  describe: "Receive webhooks in the terminal, and check their signatures",
  options: OPTIONS,
  examples: [
    ["$0 listen --secret whsec_… --answer 500,500,200", "Two failures, then success"],
    ["$0 listen --answer 200:3s", "A slow receiver"],
    [
      "$0 listen --forward-to http://127.0.0.1:3000/webhook --url https://sandbox.example.test",
      "Deliveries of a remote server reach this machine",
    ],
  ],
  check(options) {
    const given = listGivenTargetOptions(options);
    if (options["forward-to"] === undefined && given.length > 0)
      throw new UsageError(
        `${given.join(" and ")} ${given.length === 1 ? "needs" : "need"} --forward-to URL: without it, listen calls no server`,
      );
  },
  toOptionName: (inputField) => (inputField === "organization_id" ? "--organization" : undefined),
  run: (options, server) =>
    options["forward-to"] === undefined ? listen(options) : forward(options, options["forward-to"], server),
});

async function listen(options: ListenOptions): Promise<void> {
  const { port = DEFAULT_PORT, host = "127.0.0.1", answer = ["200"], secret, json } = options;
  const answers = splitWords(answer).map(parseAnswer);
  if (answers.length === 0) throw new UsageError("--answer is empty; give it a value, or leave it out");
  requirePort(port);
  const { createListener } = await import("../../tools/receivers/listen.ts");
  const onDelivery = await createPrinter(json);
  const listener = await createListener({ port, host, answers, secret, onDelivery });
  let removeListeners = () => {};
  const ended = new Promise<void>((resolve) => {
    removeListeners = onEnd(resolve);
  });
  if (json) printJsonLine({ url: listener.url, pid: process.pid });
  else printLines(`Listening at ${listener.url}, on any path. Ctrl-C ends it.`);
  await ended;
  removeListeners();
  await listener.close();
}

async function forward(options: ListenOptions, target: string, server: UnderstudyClient): Promise<void> {
  const { json, events, organization, secret } = options;
  const to = readUrlOption("--forward-to", target);
  const sandbox = await openSandbox(options);
  const { forwardDeliveries } = await import("../forward-deliveries.ts");
  const onDelivery = await createPrinter(json);
  const names = events === undefined ? await listSubscribable(server) : splitWords(events);
  const ending = new AbortController();
  const removeListeners = onEnd(() => ending.abort());
  await forwardDeliveries({
    sandbox,
    to,
    organization,
    secret,
    onDelivery,
    // The server refuses unknown events, and suggests the nearest.
    events: names as SubscribedEvents,
    onReady(webhook) {
      if (json) return printJsonLine({ ...webhook, forward_to: to, pid: process.pid });
      printLines(`Forwarding deliveries of sandbox ${options.sandbox} to ${to}. Ctrl-C ends it.`);
      printLines(`They are signed with ${webhook.secret} (webhook ${webhook.webhook_id}).`);
    },
    onProblem: printError,
    signal: ending.signal,
  }).finally(removeListeners);
}

/** A webhook cannot subscribe to tests: a test is sent to the webhook that it names. */
async function listSubscribable(server: UnderstudyClient): Promise<string[]> {
  const names = (await server.events()).map(({ name }) => name);
  return names.filter((name) => name !== "webhook.test");
}

function onEnd(end: () => void): () => void {
  const removals = [onTermination(end), onOutputLost(end)];
  return () => {
    for (const remove of removals) remove();
  };
}

async function createPrinter(json: boolean): Promise<(delivery: ReceivedDelivery) => void> {
  const { formatDelivery } = await import("../../tools/receivers/listen.ts");
  return (delivery) => {
    const { body, ...facts } = delivery;
    if (json) printJsonLine({ ...facts, body: body.toString("utf8") });
    else printLines(formatDelivery(delivery));
  };
}

function splitWords(args: readonly string[]): string[] {
  return args.flatMap((words) => words.split(/[,\s]+/)).filter((word) => word !== "");
}

/** @throws UsageError */
function parseAnswer(answer: string): SimulatedAnswer {
  if (answer === "hang" || answer === "reset") return answer;
  const [, status, delay] = /^([2-5]\d\d)(?::(\d+(?:\.\d+)?(?:ms|s|m)))?$/.exec(answer) ?? [];
  if (status === undefined)
    throw new UsageError(
      `--answer takes statuses from 200 to 599, STATUS:DELAY, hang and reset, not "${answer}"`,
    );
  return delay === undefined ? Number(status) : { status: Number(status), delay };
}
