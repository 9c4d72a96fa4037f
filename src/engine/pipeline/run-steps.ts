/** One step of a request or control call. */
export interface Step<X> {
  /** Its name in `X-Sandbox-Decision` and `explain`. */
  readonly name: string;
  /** Reads and completes the exchange; throws to refuse it. */
  readonly run: (exchange: X) => void | Promise<void>;
}

/** The part of an exchange that the runner uses. */
export interface StepExchange {
  /** The step under way. */
  stage: string;
  /** Called after each step that passed; a dry run listens. */
  readonly observe?: ((stage: string) => void) | undefined;
}

/** Runs the steps one after the other, from the one at `first`; the first that throws ends the run. */
export function runSteps<X extends StepExchange>(
  steps: readonly Step<X>[],
  exchange: X,
  first = 0,
): void | Promise<void> {
  for (let at = first; at < steps.length; at++) {
    const { name, run } = steps[at]!;
    exchange.stage = name;
    const running = run(exchange);
    if (running !== undefined)
      return running.then(() => {
        exchange.observe?.(name);
        return runSteps(steps, exchange, at + 1);
      });
    exchange.observe?.(name);
  }
}

/** The same for steps inside a transaction, which is synchronous. */
export function runStepsNow<X extends StepExchange>(steps: readonly Step<X>[], exchange: X): void {
  for (const { name, run } of steps) {
    exchange.stage = name;
    if (run(exchange) instanceof Promise) throw new Error(`the step ${name} waits inside a transaction`);
    exchange.observe?.(name);
  }
}
