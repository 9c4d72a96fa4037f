import { type Static, Type } from "typebox";
import type { ReceiverReport } from "../../../types/control-api.ts";
import { StreamBody } from "../../engine/contract/reply.ts";
import { ClosedObject, MapOf, StringEnum, withLibraryType } from "../../engine/contract/schema.ts";
import { capitalize, toSentence } from "../../engine/contract/text.ts";
import { type GradeReceiverOptions, OPTION_NAMES, SEVERITIES } from "../../tools/grader/report.ts";
import { ReceiverReportBody } from "../../tools/grader/report-body.ts";
import { type ControlCall, type ControlOperation, OptionalText, operation } from "../operation.ts";
import { Problem } from "../problem.ts";

/** Longer than any client keeps a call open. */
const MAX_SECONDS = 600;
const Seconds = (description: string) =>
  Type.Optional(Type.Number({ minimum: 0, maximum: MAX_SECONDS, description }));

export const ReceiverTestInput = ClosedObject(
  {
    url: Type.String({
      minLength: 1,
      maxLength: 2048,
      description: "The receiver's URL, as this server reaches it",
    }),
    secret: Type.String({
      minLength: 1,
      maxLength: 1000,
      description: "The signing secret that the receiver has",
    }),
    probe: OptionalText("A URL that returns the number of processed deliveries, or their ids", {
      minLength: 1,
      maxLength: 2048,
    }),
    only: Type.Optional(Type.Array(Type.String(), { description: "Checks to run, by id; by default all" })),
    skip: Type.Optional(Type.Array(Type.String(), { description: "Checks to leave out, by id" })),
    fail_on: Type.Optional(
      StringEnum(SEVERITIES, {
        description: "The lowest severity at which a failed check fails the receiver; by default `minor`",
      }),
    ),
    event: Type.Optional(
      withLibraryType(
        "EventName",
        Type.String({ description: "The event of deliveries in checks that work with any event" }),
      ),
    ),
    data: Type.Optional(
      MapOf(Type.Unknown(), {
        description:
          "Values for fields of data, in every event that has them, such as a `user_id` that the receiver knows",
      }),
    ),
    timeout_seconds: Seconds("Timeout of each request; by default 30, as for deliveries"),
    patience_seconds: Seconds(
      "How long after its answer a side effect may come, and how long the receiver may take to start; by default 3",
    ),
    memory_seconds: Seconds("After how long the first delivery is sent again; by default 12"),
  },
  {
    $id: "ReceiverTestInput",
    examples: [{ url: "http://127.0.0.1:9/webhook", secret: "whsec_example", patience_seconds: 0 }],
  },
);

export const ReceiverTestEvent = ClosedObject(
  {
    progress: Type.Optional(
      ClosedObject(
        {
          index: Type.Integer({ minimum: 1 }),
          total: Type.Integer({ minimum: 1 }),
          title: Type.String(),
        },
        { description: "A check starts" },
      ),
    ),
    report: Type.Optional(ReceiverReportBody),
  },
  { $id: "ReceiverTestEvent", description: "A check that starts; the last event is the report" },
);
type ReceiverTestEvent = Static<typeof ReceiverTestEvent>;

export const RECEIVER_TEST_OPERATIONS: readonly ControlOperation[] = [
  operation({
    id: "receivers.test",
    section: "interfaces 14",
    route: "POST /_control/sandboxes/{name}/receiver-test",
    summary: "Grade a webhook receiver, as `understudy receiver-test` does",
    description:
      "Sends signed, forged, malformed and repeated deliveries from this server to the addresses that it may call. The test ends if the client disconnects.",
    body: { kind: "json", schema: ReceiverTestInput },
    reads: true,
    success: { status: 200, content_types: ["text/event-stream"], events: ReceiverTestEvent },
    async handle(call) {
      const { ReceiverTestUsageError } = await import("../../tools/grader/report.ts");
      const { gradeFor, requireGradable } = await import("../../tools/grader/run-grading.ts");
      const { url } = call.body;
      const options = toGradingOptions(call);
      try {
        requireGradable(url, options);
      } catch (error) {
        if (!(error instanceof ReceiverTestUsageError)) throw error;
        const { message, option } = error;
        const detail = toSentence(capitalize(message));
        throw new Problem("invalid-input", { detail, ...(option && { field: option }) });
      }
      const caller = { names: OPTION_NAMES.control, network: call.server.createGraderNetwork() };
      return new StreamBody("text/event-stream", (signal) =>
        streamEvents((send) =>
          gradeFor(caller, url, {
            ...options,
            signal,
            onProgress: (progress) => send({ progress }),
          }),
        ),
      );
    },
  }),
];

function toGradingOptions({
  body: { url: _url, fail_on, timeout_seconds, patience_seconds, memory_seconds, ...options },
  sandbox: { settings },
}: ControlCall<unknown, unknown, Static<typeof ReceiverTestInput>>): GradeReceiverOptions {
  const toMs = (seconds: number | undefined) => (seconds === undefined ? undefined : seconds * 1000);
  return {
    ...options,
    failOn: fail_on,
    timeoutMs: toMs(timeout_seconds),
    patienceMs: toMs(patience_seconds),
    memoryMs: toMs(memory_seconds),
    serviceName: settings.service_name,
  };
}

/** The run's progress, then its report. @throws the errors of the run */
async function* streamEvents(
  run: (send: (event: ReceiverTestEvent) => void) => Promise<ReceiverReport>,
): AsyncIterable<string> {
  const waiting: ReceiverTestEvent[] = [];
  let wake = () => {};
  const send = (event: ReceiverTestEvent) => {
    waiting.push(event);
    wake();
  };
  const running = run(send).then((report) => send({ report }));
  // If the client has left, no one waits for an error.
  running.catch(() => {});
  for (;;) {
    for (const event of waiting.splice(0)) {
      yield `data: ${JSON.stringify(event)}\n\n`;
      if (event.report !== undefined) return;
    }
    if (waiting.length > 0) continue;
    const nextEvent = new Promise<void>((resolve) => {
      wake = resolve;
    });
    // Throws the error of the run.
    await Promise.race([running, nextEvent]);
  }
}
