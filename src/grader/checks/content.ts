import { sign } from "../../webhooks/sign.ts";
import { type Check, describe, expectAccepted, failed, isAccepted, isRefused, passed } from "../check.ts";

const unknownEvent: Check = {
  id: "unknown-event",
  title: "Accepts an event it doesn't know",
  severity: "major",
  why: "New events are added over time; refusing one makes the service retry it for hours, and 410 would switch the webhook off.",
  advice: "Answer 2xx and ignore events that you have no use for.",
  run: (session) =>
    expectAccepted(
      session,
      ["webhook.test", "planet.discovered"].map((event) => ({
        label: event,
        delivery: session.makeDelivery({ event, data: { note: "an event of a later version" } }),
      })),
    ),
};

const extraFields: Check = {
  id: "extra-fields",
  title: "Accepts fields it doesn't know",
  severity: "major",
  why: "Fields are added without notice; strict validation turns such an addition into an outage.",
  advice: "Validate the fields that you use and ignore the others, at the top level and within data.",
  run: (session) =>
    expectAccepted(session, [
      {
        label: "additional fields at the top and in data",
        delivery: session.makeDelivery({
          write: (payload) =>
            JSON.stringify({
              ...payload,
              data: { ...payload.data, nickname: null, labels: ["new"], address: { city: "Bern" } },
              api_version: "2031-01-01",
              attempt: { number: 1 },
            }),
        }),
      },
    ]),
};

const malformedJson: Check = {
  id: "malformed-json",
  title: "Refuses malformed JSON with a valid signature, and lives on",
  severity: "major",
  why: "An exception while parsing must not take down the process, nor be answered 5xx and so be retried for hours.",
  advice: "Catch the parser's error and answer 400.",
  async run(session) {
    const body = Buffer.from('{"event":"user.created","data":{"user_id":');
    const broken = { ...session.makeDelivery(), body, signature: sign(session.options.secret, body) };
    const exchange = await session.deliver(broken);
    if (!isRefused(exchange)) {
      return failed(`the receiver ${describe(exchange)}, where 4xx is expected`, exchange);
    }
    const after = await session.deliver(session.makeDelivery());
    if (!isAccepted(after))
      return failed(`a valid delivery after it: the receiver ${describe(after)}`, exchange);
    return passed(`the receiver ${describe(exchange)}, and accepted the next delivery`, exchange);
  },
};

export const content: Check[] = [unknownEvent, extraFields, malformedJson];
