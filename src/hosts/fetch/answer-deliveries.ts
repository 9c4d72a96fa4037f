// In a file without the engine's types: the library's declarations contain what this file imports.
import { rejectOnAbort, retainUntilAnswered } from "./await-answer.ts";

/**
 * Receives each webhook that leaves the sandbox, in place of the network. Answers with a `Response`; any other value
 * counts as 204, a rejection as a broken connection.
 */
export type OnDelivery = (request: Request) => unknown;

/** The caller's function as a receiver of webhooks. @throws TypeError if it is not a function */
export function answerDeliveries(onDelivery: OnDelivery): (request: Request) => Promise<Response> {
  if (typeof onDelivery !== "function")
    throw new TypeError(
      `onDelivery must be a function that takes a Request, not ${JSON.stringify(onDelivery)}`,
    );
  return async (request) => {
    const answering = rejectOnAbort(request.signal, Promise.resolve(onDelivery(request)));
    const answer = await retainUntilAnswered(request, answering);
    // Test environments such as jsdom have a `Response` class of their own.
    if (Object.prototype.toString.call(answer) !== "[object Response]")
      return new Response(null, { status: 204 });
    if ((answer as Response).type === "error") throw new TypeError("the receiver broke the connection");
    return answer as Response;
  };
}
