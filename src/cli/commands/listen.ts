import type { CommandModule } from "yargs";
import type { SimulatedAnswer } from "../../engine/receivers/receiver.ts";
import type { HeardDelivery } from "../../tools/receivers/format-delivery.ts";
import { UsageError } from "../failure.ts";
import type { SubscribedEvents } from "../forward-deliveries.ts";
import { complain, onReaderGone, say, sayJson } from "../output.ts";
import { openSandbox, server, type Target, targetOptions } from "../target.ts";
import { onEnding } from "../until-ended.ts";

type Options = Target & {
  port: number | undefined;
  host: string | undefined;
  answer: string[] | undefined;
  secret: string | undefined;
  "forward-to": string | undefined;
  events: string[] | undefined;
  organization: string | undefined;
};

const DEFAULT_PORT = 4748;
/** They are about a receiver of the command's own. */
const OF_ITS_OWN = ["port", "host", "answer"];

export const listenCommand: CommandModule<object, Options> = {
  command: "listen",
  describe: "Receive webhooks in the terminal, and judge their signatures",
  builder: (argv) =>
    targetOptions(argv)
      .option("port", {
        type: "number",
        requiresArg: true,
        describe: `Port, ${DEFAULT_PORT} unless given; 0 picks a free one`,
      })
      .option("host", {
        type: "string",
        requiresArg: true,
        describe: "Address to bind, 127.0.0.1 unless given",
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
      .option("forward-to", {
        type: "string",
        requiresArg: true,
        conflicts: OF_ITS_OWN,
        describe:
          "Call this URL with what the sandbox sends, and answer as it does; the server may be far away",
      })
      .option("events", {
        type: "string",
        array: true,
        requiresArg: true,
        implies: "forward-to",
        describe: "With --forward-to: these events; all unless given",
      })
      .option("organization", {
        type: "string",
        requiresArg: true,
        implies: "forward-to",
        describe: "With --forward-to: whose events, by id; the fixture's first unless given",
      })
      .example("$0 listen --secret whsec_… --answer 500,500,200", "Two failures, then success")
      .example("$0 listen --answer 200:3s", "A slow receiver")
      .example(
        "$0 listen --forward-to http://127.0.0.1:3000/webhook --url https://sandbox.example.test",
        "What a server far away sends reaches this machine",
      ) as never,
  async handler(options) {
    const { secret } = options;
    if (secret === "") throw new UsageError("--secret is empty; leave it out to show signatures unjudged");
    return options["forward-to"] === undefined ? listen(options) : forward(options, options["forward-to"]);
  },
};

async function listen({
  port = DEFAULT_PORT,
  host = "127.0.0.1",
  answer,
  secret,
  json,
}: Options): Promise<void> {
  const answers = (answer ?? ["200"]).flatMap((text) => text.split(/[,\s]+/)).map(answerOf);
  if (!Number.isInteger(port) || port < 0 || port > 65535)
    throw new UsageError(`--port takes a whole number from 0 to 65535, not ${port}`);
  const { createListener } = await import("../../tools/receivers/listen.ts");
  const show = await shower(json);
  const listener = await createListener({ port, host, answers, secret, onDelivery: show });
  let noLonger = () => {};
  const ended = new Promise<void>((resolve) => {
    noLonger = onEnd(resolve);
  });
  if (json) sayJson({ url: listener.url, pid: process.pid });
  else say(`Listening at ${listener.url}, on any path. Ctrl-C ends it.`);
  await ended;
  noLonger();
  await listener.close();
}

async function forward(options: Options, to: string): Promise<void> {
  const { json, events, organization, secret } = options;
  if (!URL.canParse(to) || !/^https?:\/\//i.test(to))
    throw new UsageError(`--forward-to takes a URL such as http://127.0.0.1:3000/webhook, not "${to}"`);
  const sandbox = await openSandbox(options);
  const { forwardDeliveries } = await import("../forward-deliveries.ts");
  const show = await shower(json);
  const wanted = events?.flatMap((text) => text.split(/[,\s]+/)).filter((name) => name !== "");
  const names = wanted ?? (await subscribable(options));
  const ending = new AbortController();
  const noLonger = onEnd(() => ending.abort());
  await forwardDeliveries({
    sandbox,
    to,
    // The server knows better which events there are, and which was meant.
    events: names as SubscribedEvents,
    organization,
    secret,
    onReady(registered) {
      if (json) return sayJson({ ...registered, forward_to: to, pid: process.pid });
      say(`Forwarding to ${to} what sandbox ${options.sandbox} sends. Ctrl-C ends it.`);
      say(`It is signed with ${registered.secret} (webhook ${registered.webhook_id}).`);
    },
    onDelivery: show,
    onTrouble: complain,
    signal: ending.signal,
  }).finally(noLonger);
}

/** A test goes to the webhook that it names; nobody subscribes to tests. */
async function subscribable(target: Target): Promise<string[]> {
  const names = (await server(target).events()).map(({ name }) => name);
  return names.filter((name) => name !== "webhook.test");
}

function onEnd(end: () => void): () => void {
  const signals = onEnding(end);
  const reader = onReaderGone(end);
  return () => {
    signals();
    reader();
  };
}

async function shower(json: boolean): Promise<(delivery: HeardDelivery) => void> {
  const { formatDelivery } = await import("../../tools/receivers/format-delivery.ts");
  return (delivery) => {
    const { body, ...facts } = delivery;
    if (json) say(JSON.stringify({ ...facts, body: body.toString("utf8") }));
    else say(formatDelivery(delivery));
  };
}

/** @throws UsageError */
function answerOf(text: string): SimulatedAnswer {
  if (text === "hang" || text === "reset") return text;
  const [, status, delay] = /^([2-5]\d\d)(?::(\d+(?:\.\d+)?(?:ms|s|m)))?$/.exec(text) ?? [];
  if (status === undefined)
    throw new UsageError(
      `--answer takes statuses from 200 to 599, STATUS:DELAY, hang and reset, not "${text}"`,
    );
  return delay === undefined ? Number(status) : { status: Number(status), delay };
}
