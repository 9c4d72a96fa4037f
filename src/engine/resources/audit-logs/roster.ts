import type { Random } from "../../state/random.ts";

/** Things by id, from which one is drawn in constant time however many there are. */
export class Roster<T extends { readonly id: string }> {
  private readonly list: T[] = [];
  private readonly places = new Map<string, number>();

  constructor(things: Iterable<T> = []) {
    for (const thing of things) this.add(thing);
  }

  get size(): number {
    return this.list.length;
  }

  get(id: string): T | undefined {
    const place = this.places.get(id);
    return place === undefined ? undefined : this.list[place];
  }

  add(thing: T): T {
    this.places.set(thing.id, this.list.push(thing) - 1);
    return thing;
  }

  /** The last one takes its place. */
  remove({ id }: { readonly id: string }): void {
    const place = this.places.get(id);
    if (place === undefined) return;
    this.places.delete(id);
    const last = this.list.pop()!;
    if (last.id === id) return;
    this.list[place] = last;
    this.places.set(last.id, place);
  }

  /** One that fits, as far as a few draws find it. */
  pick(random: Random, fits: (thing: T) => boolean = () => true): T | undefined {
    for (let tries = Math.min(this.list.length, MAX_TRIES); tries > 0; tries--) {
      const found = random.pick(this.list);
      if (fits(found)) return found;
    }
    return undefined;
  }
}

const MAX_TRIES = 8;
