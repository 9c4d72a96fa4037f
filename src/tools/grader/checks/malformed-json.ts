import { sign } from "../../../engine/webhooks/sign.ts";
import {
  type Check,
  failed,
  isAccepted,
  isPutOff,
  isRefused,
  isSlowedDown,
  notObservable,
  passed,
} from "../check.ts";
import { describe } from "../describe-exchange.ts";
import { judgePutOff } from "../put-off.ts";

export const malformedJson: Check = {
  id: "malformed-json",
  title: "Refuses malformed JSON with a valid signature, and lives on",
  severity: "major",
  why: "An exception while parsing must not take down the process, nor be answered 5xx and so be retried for hours.",
  advice: "Catch the parser's error and answer 400.",
  mends: ["exception", "hung-up"],
  async run(session) {
    const body = Buffer.from('{"event":"user.created","data":{"user_id":');
    const broken = { ...session.makeDelivery(), body, signature: sign(session.options.secret, body) };
    const exchange = await session.deliver(broken);
    const told = `the receiver ${describe(exchange)}`;
    if (isPutOff(exchange)) return judgePutOff(session, exchange, "malformed JSON");
    if (!isRefused(exchange)) return failed(`${told}, where 4xx is expected`, exchange);
    const after = await session.deliver(session.makeDelivery());
    if (isSlowedDown(after)) {
      return notObservable(`${told}; whether it lives on can't be seen: it ${describe(after)}`, after);
    }
    // A 503 is what a gateway answers while the process is down.
    if (!isAccepted(after)) {
      return failed(`a valid delivery after it: the receiver ${describe(after)}`, exchange);
    }
    return passed(`${told}, and accepted the next delivery`, exchange);
  },
};
