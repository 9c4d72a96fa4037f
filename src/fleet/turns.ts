/** Work on one name at a time, in the order in which it was asked for. */
export class Turns {
  private readonly last = new Map<string, Promise<void>>();

  next<T>(name: string, work: () => Promise<T>): Promise<T> {
    const mine = (this.last.get(name) ?? Promise.resolve()).then(work);
    const end: Promise<void> = mine.then(nothing, nothing).then(() => {
      if (this.last.get(name) === end) this.last.delete(name);
    });
    this.last.set(name, end);
    return mine;
  }
}

function nothing(): void {}
