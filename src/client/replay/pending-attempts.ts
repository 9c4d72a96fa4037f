import { platform } from "../../engine/platform.ts";
import type { World } from "../../engine/state/world.ts";

/** An attempt to deliver that has no answer yet: in the recording, the next request arrived before its end. */
interface PendingAttempt {
  endsAt: number;
  end: () => void;
}

/** The attempts of a replay that stay without an answer until the replay reaches their recorded end. */
export class PendingAttempts {
  private readonly attempts = new Set<PendingAttempt>();
  private onPending = (): void => undefined;

  get isEmpty(): boolean {
    return this.attempts.size === 0;
  }

  /** Resolves when the attempt is ended, or cancelled by the signal. `endsAt` is infinite for one that a restore cancels. */
  wait(endsAt: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const attempt: PendingAttempt = { endsAt, end: resolve };
      this.attempts.add(attempt);
      signal?.addEventListener("abort", () => this.end(attempt), { once: true });
      this.onPending();
    });
  }

  /** Ends the attempts whose recorded end is not later than an instant, each at its end. */
  async endUntil(instant: number, world: World): Promise<void> {
    const due = [...this.attempts].filter(({ endsAt }) => endsAt <= instant);
    for (const attempt of due.toSorted((a, b) => a.endsAt - b.endsAt)) {
      world.skipTo(attempt.endsAt);
      this.end(attempt);
      await this.whenSettled(world);
    }
  }

  /** Ends all attempts but those that a restore cancels, each at its recorded end, or at an instant if that is earlier. */
  async endAll(instant: number, world: World): Promise<void> {
    for (const attempt of this.attempts)
      if (attempt.endsAt !== Number.POSITIVE_INFINITY) attempt.endsAt = Math.min(attempt.endsAt, instant);
    await this.endUntil(instant, world);
  }

  /** Resolves when the world's work has ended, or once an attempt is pending, which a later step ends. */
  async whenSettled(world: World): Promise<void> {
    const pending = new Promise<void>((resolve) => {
      this.onPending = resolve;
    });
    if (!this.isEmpty) this.onPending();
    await Promise.race([world.whenSettled(), pending]);
    await platform().nextTurn();
  }

  private end(attempt: PendingAttempt): void {
    this.attempts.delete(attempt);
    attempt.end();
  }
}
