import Type from "typebox";
import { headersOf } from "./answer-headers.ts";
import type { Effect } from "./effect.ts";

/**
 * An answer of the rule's own. A bare 5xx comes in the operation's envelope (interfaces 6), and a bare 4xx
 * is the operation's first documented code with that status.
 */
export const answerEffect: Effect = {
  keys: {
    status: Type.Integer({ minimum: 200, maximum: 599 }),
    body: Type.Unsafe<unknown>({ description: "A text as it is, anything else as JSON" }),
  },
  check(effect, report) {
    if (effect.body !== undefined && (effect.status === 204 || effect.status === 304))
      report(["body"], `cannot stand beside status ${effect.status}, which has no body`);
    if (effect.headers !== undefined && effect.error === undefined && !answers(effect)) {
      report(["headers"], "needs an answer to stand in: `error`, `status` or `body`");
    }
  },
  read(effect) {
    if (!answers(effect)) return {};
    const { status = 200, headers, body } = effect;
    return { answer: { kind: "status", status, headers: headersOf(headers), body } };
  },
};

function answers({ status, body }: { status?: number; body?: unknown }): boolean {
  return status !== undefined || body !== undefined;
}
