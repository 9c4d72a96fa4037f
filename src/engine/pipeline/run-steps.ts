/** One step of a request or control call; several may share a name. */
export interface Step<X> {
  /** The name in `X-Sandbox-Decision` and `explain`. */
  readonly name: string;
  /** Reads and completes the exchange; throws to refuse it. */
  readonly run: (exchange: X) => void | Promise<void>;
}

/** The part of an exchange that the runner uses. */
export interface StepExchange {
  /** The name of the step under way. */
  step: string;
  /** For a dry run. */
  readonly onStepPassed?: ((step: string) => void) | undefined;
}

/** Runs the steps one after the other, from the one at `first`; the first that throws ends the run. */
export function runSteps<X extends StepExchange>(
  steps: readonly Step<X>[],
  exchange: X,
  first = 0,
): void | Promise<void> {
  for (let index = first; index < steps.length; index++) {
    const { name, run } = steps[index]!;
    exchange.step = name;
    const running = run(exchange);
    if (running !== undefined)
      return running.then(() => {
        exchange.onStepPassed?.(name);
        return runSteps(steps, exchange, index + 1);
      });
    exchange.onStepPassed?.(name);
  }
}

/** The same for steps inside a transaction, which is synchronous. */
export function runStepsNow<X extends StepExchange>(steps: readonly Step<X>[], exchange: X): void {
  for (const { name, run } of steps) {
    exchange.step = name;
    if (run(exchange) instanceof Promise) throw new Error(`the step ${name} waits inside a transaction`);
    exchange.onStepPassed?.(name);
  }
}
