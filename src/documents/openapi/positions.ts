import { EVENT_ID, type Event, getScalarValue, parseEvents, SCALAR_STYLE, type ScalarEvent } from "js-yaml";
import { type DocumentPath, type Position, toPosition } from "../../engine/documents/document-error.ts";

interface Place {
  key: Position;
  value: Position;
}

/** Finds the places of values in a text that was read without positions. */
export class Positions {
  private readonly text: string;
  private readonly events: readonly Event[];
  private readonly anchors = new Map<string, number>();

  constructor(text: string) {
    this.text = text;
    this.events = parseEvents(text, { maxDepth: 1000 });
    for (const [at, event] of this.events.entries())
      if ("anchorStart" in event && event.anchorStart >= 0 && event.type !== EVENT_ID.ALIAS)
        this.anchors.set(text.slice(event.anchorStart, event.anchorEnd).replace(/^&/, ""), at);
  }

  /** The place of the value at a path, or of its nearest ancestor. */
  find(path: DocumentPath): Place {
    // Event 0 is the document itself.
    let value = 1;
    let key = 1;
    for (const step of path) {
      const child = this.findChild(this.resolveAlias(value), step);
      if (child === undefined) break;
      ({ key, value } = child);
    }
    return { key: this.toPosition(key), value: this.toPosition(value) };
  }

  private findChild(parent: number, step: string | number): { key: number; value: number } | undefined {
    const { type } = this.events[parent] ?? {};
    if (type !== EVENT_ID.MAPPING && type !== EVENT_ID.SEQUENCE) return undefined;
    for (let at = parent + 1, index = 0; this.events[at]?.type !== EVENT_ID.POP; index++) {
      if (type === EVENT_ID.SEQUENCE) {
        if (index === step) return { key: at, value: at };
        at = this.skipValue(at);
        continue;
      }
      const value = this.skipValue(at);
      const event = this.events[at]!;
      if (event.type === EVENT_ID.SCALAR && getScalarValue(this.text, event) === String(step))
        return { key: at, value };
      at = this.skipValue(value);
    }
    return undefined;
  }

  /** The index of the event after a value. */
  private skipValue(at: number): number {
    let open = 0;
    for (let index = at; index < this.events.length; index++) {
      const { type } = this.events[index]!;
      if (type === EVENT_ID.MAPPING || type === EVENT_ID.SEQUENCE) open += 1;
      else if (type === EVENT_ID.POP) open -= 1;
      if (open === 0) return index + 1;
    }
    return this.events.length;
  }

  private resolveAlias(at: number): number {
    const event = this.events[at];
    if (event?.type !== EVENT_ID.ALIAS) return at;
    return this.anchors.get(this.text.slice(event.anchorStart, event.anchorEnd).replace(/^\*/, "")) ?? at;
  }

  private toPosition(at: number): Position {
    return toPosition(this.text, toOffset(this.events[at]));
  }
}

function toOffset(event: Event | undefined): number {
  if (event === undefined) return 0;
  if (event.type === EVENT_ID.SCALAR) return event.valueStart - (isQuoted(event) ? 1 : 0);
  if (event.type === EVENT_ID.ALIAS) return event.anchorStart;
  return "start" in event ? event.start : 0;
}

function isQuoted({ style }: ScalarEvent): boolean {
  return style === SCALAR_STYLE.SINGLE_QUOTED || style === SCALAR_STYLE.DOUBLE_QUOTED;
}
