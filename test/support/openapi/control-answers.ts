import type { TSchema } from "typebox";
import type { ControlOperation } from "../../../src/control/operation.ts";
import { asProblem } from "../../../src/control/problem.ts";
import { type AnyDeclaration, listSuccesses, type Success } from "../../../src/engine/contract/operation.ts";
import { listProblemKinds, ProblemBody } from "../../../src/engine/contract/problems.ts";
import { RawBody, Reply, StreamBody } from "../../../src/engine/contract/reply.ts";
import { toValidator } from "../../../src/engine/contract/validator.ts";
import type { Step } from "../../../src/engine/pipeline/run-steps.ts";

/** A response of the control API that its operation does not declare. This is a defect, so the status is 500. */
export class UndeclaredAnswer extends Error {
  override readonly name = "UndeclaredAnswer";
}

type Handle = ControlOperation["handle"];

/** Makes each handler throw if it returns an answer that its operation does not declare (vitest.config.ts). */
export function checkAnswers(operations: readonly ControlOperation[]): void {
  for (const operation of operations) {
    const { handle } = operation;
    operation.handle = (call) => {
      const check = (value: unknown) => checkAnswer(operation, call.params as Record<string, string>, value);
      const value: unknown = handle(call);
      return (value instanceof Promise ? value.then(check) : check(value)) as ReturnType<Handle>;
    };
  }
}

/** Makes each step throw a defect instead of a refusal that the call's operation does not declare. */
export function checkRefusals(steps: readonly Step<{ operation: AnyDeclaration | undefined }>[]): void {
  for (const step of steps as { -readonly [K in keyof (typeof steps)[0]]: (typeof steps)[0][K] }[]) {
    const { run } = step;
    step.run = (exchange) => {
      const refuse = (error: unknown): never => {
        throw (exchange.operation && checkRefusal(exchange.operation, error)) ?? error;
      };
      try {
        const running = run(exchange);
        return running instanceof Promise ? running.catch(refuse) : running;
      } catch (error) {
        return refuse(error);
      }
    };
  }
}

/** Returns the value, or a stream that checks each event. @throws UndeclaredAnswer */
export function checkAnswer(
  operation: AnyDeclaration,
  params: Readonly<Record<string, string>>,
  value: unknown,
): unknown {
  const reply = value instanceof Reply ? value : new Reply(listSuccesses(operation)[0]!.status, value);
  const success = listSuccesses(operation).find(({ status }) => status === reply.status);
  if (success === undefined)
    throw new UndeclaredAnswer(`${operation.id} answered the status ${reply.status}`);
  const { body } = reply;
  if (body instanceof RawBody || body instanceof StreamBody) {
    const [essence] = body.content_type.split(";");
    if (!success.content_types?.includes(essence!))
      throw new UndeclaredAnswer(`${operation.id} answered ${essence}`);
  }
  if (body instanceof RawBody) return value;
  if (body instanceof StreamBody)
    return new Reply(reply.status, checkEvents(operation, success, body), { ...reply.headers });
  const { variants } = success;
  const schema = variants?.schemas[params[variants.parameter]!] ?? variants?.otherwise ?? success.schema;
  if (schema === undefined ? body !== undefined : body === undefined)
    throw new UndeclaredAnswer(`${operation.id} answered ${body === undefined ? "no body" : "a body"}`);
  if (schema !== undefined) requireFit(operation, schema, JSON.parse(JSON.stringify(body)));
  return value;
}

/** Returns the defect if the operation does not declare this refusal; undefined for any other error. */
export function checkRefusal(operation: AnyDeclaration, error: unknown): UndeclaredAnswer | undefined {
  const problem = asProblem(error);
  if (problem === undefined) return undefined;
  try {
    if (!listProblemKinds(operation).includes(problem.kind))
      throw new UndeclaredAnswer(`${operation.id} refused with ${problem.kind}: ${problem.message}`);
    requireFit(operation, ProblemBody, JSON.parse(JSON.stringify(problem.body)));
    return undefined;
  } catch (defect) {
    return defect as UndeclaredAnswer;
  }
}

function requireFit({ id }: AnyDeclaration, schema: TSchema, body: unknown): void {
  const validate = toValidator(schema);
  if (validate(body)) return;
  const problems = validate.errors!.map(
    ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
  );
  throw new UndeclaredAnswer(
    `${id} answered a body that does not fit its schema: ${problems.slice(0, 5).join("; ")}`,
  );
}

/** Returns the same stream, which ends before an event that does not fit. */
function checkEvents(
  operation: AnyDeclaration,
  { events }: Success,
  { content_type, chunks }: StreamBody,
): StreamBody {
  return new StreamBody(content_type, async function* (signal) {
    for await (const chunk of chunks(signal)) {
      const [, data] = /^data: ([^\n]*)/m.exec(String(chunk)) ?? [];
      if (data !== undefined) {
        if (events === undefined) throw new UndeclaredAnswer(`${operation.id} declares no events`);
        requireFit(operation, events, JSON.parse(data));
      }
      yield chunk;
    }
  });
}
