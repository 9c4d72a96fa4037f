/** Requests by operation and status since the server began; for metrics alone. */
export class RequestTally {
  private readonly byOperation = new Map<string, Map<number, number>>();

  count(operation: string | null, status: number): void {
    const name = operation ?? "none";
    let byStatus = this.byOperation.get(name);
    if (byStatus === undefined) {
      byStatus = new Map();
      this.byOperation.set(name, byStatus);
    }
    byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
  }

  *rows(): IterableIterator<{ operation: string; status: number; count: number }> {
    for (const [operation, byStatus] of this.byOperation) {
      for (const [status, count] of byStatus) yield { operation, status, count };
    }
  }
}
