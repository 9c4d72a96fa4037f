/** Whoever wants to hear of a history: some time after there is something new, and at its end. */
export class HistoryListeners {
  isClosed = false;
  private readonly listeners = new Set<() => void>();
  private isTelling = false;

  /** Returns the way to stop. */
  add(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Calls once for a burst, when what began it has been answered. */
  tell(): void {
    if (this.isTelling || this.listeners.size === 0) return;
    this.isTelling = true;
    setImmediate(() => {
      this.isTelling = false;
      for (const listener of this.listeners) listener();
    });
  }

  close(): void {
    this.isClosed = true;
    for (const listener of this.listeners) listener();
    this.listeners.clear();
  }
}
