import type { AnyCollection } from "../state/collection.ts";
import type { KeptWrite } from "../state/flat-writes.ts";
import { MAX_STEPS } from "../state/kept-root.ts";
import type { Root } from "../state/root.ts";
import type { WrittenRecord } from "../state/transaction.ts";
import { CountedWindows } from "./counted-windows.ts";
import type { ActingRequest, KeptFrame } from "./entry-states.ts";
import { type Act, subjectOf } from "./history-entry.ts";
import { PackedWrites, type WritesReader } from "./packed-writes.ts";

/** The first of them begins with a root that is held. */
export const ROWS_IN_LOT = MAX_STEPS;

/** A request that changed the world, and by reference what there was to be seen when it did. */
export interface RequestChange {
  readonly request: ActingRequest;
  readonly named: Act["named"];
  readonly written: readonly WrittenRecord[];
  readonly frame: KeptFrame;
  readonly windows: CountedWindows;
}

/** How far everything had come, of which a row keeps numbers alone. */
export interface RequestMoment {
  readonly before: Root;
  readonly after: Root;
  /** What the clock showed, in milliseconds since 1970. */
  readonly now: number;
  /** How many requests had come by then. */
  readonly requests: number;
}

/** A row as it was put. */
export interface LotRow
  extends Pick<RequestMoment, "now" | "requests">,
    Pick<RequestChange, "frame" | "windows"> {
  readonly request: ActingRequest;
  readonly subject: string | null;
  readonly written: readonly KeptWrite[];
  /** Random draws before it. */
  readonly draws: number;
  /** What it begins with, where that is held. */
  readonly root: Root | undefined;
  /** Position of the newest entry of the journal when it came. */
  readonly journal: number;
  /** Position of its request in the journal; 0 until that was answered. */
  readonly journaled: number;
}

/** Of a row, in their order. */
type Numbers = [
  ...[journaled: number, draws: number, now: number, requests: number, journal: number],
  ...[idSeed: number, number: number, minute: number],
  ...[windowMinute: number, windowRequests: number, windowTokens: number],
];
const NUMBERS = 11;

/** What neighbouring rows have in common, most of the time. */
interface RowKind {
  readonly summary: string;
  readonly principal: string | undefined;
  readonly key_id: string | undefined;
  readonly frame: KeptFrame;
  readonly windowKey: CountedWindows["key"];
  readonly otherWindows: CountedWindows["others"];
  readonly signs: number;
  /** Of what was written, in its order. */
  readonly collections: readonly AnyCollection[];
}

/** Signs of a row: the lowest bits say which write is of its subject, then there are bits for each write. */
const SUBJECT_BITS = 3;
const WRITE_BITS = 2;
const IS_NEW = 1;
const STAYS = 2;
/** The subject is no record that was written. */
const NO_WRITE = 7;

/** What so many have written is packed in one go. */
const ROWS_IN_PIECE = 32;

/**
 * Neighbouring rows of a history, as numbers, what they have in common, and packed writes. What is no object is not
 * copied and marked by each collection.
 */
export class RowLot {
  private size = 0;
  private root: Root | undefined = undefined;
  private numbers = new Float64Array(NUMBERS);
  private kinds: RowKind[] = [];
  /** By row, which of them. */
  private readonly kindAt = new Uint8Array(ROWS_IN_LOT);
  /** Of rows whose subject is no record that was written, in their order. */
  private subjects: (string | null)[] = [];
  private readonly writes = new PackedWrites();

  /** Holds no other rows than those to come. @param root what the first of them begins with */
  begin(root: Root): this {
    this.root = root;
    this.kinds = [];
    this.subjects = [];
    this.writes.begin();
    this.size = 0;
    return this;
  }

  /**
   * @param change has no uploads
   * @param journal position of the newest entry of the journal
   */
  add(change: RequestChange, { before, now, requests }: RequestMoment, journal: number): void {
    const n = this.size * NUMBERS;
    if (n === this.numbers.length) this.grow();
    const { numbers } = this;
    const { request, windows } = change;
    const { counted } = request;
    numbers[n] = 0;
    numbers[n + 1] = before.draws;
    numbers[n + 2] = now;
    numbers[n + 3] = requests;
    numbers[n + 4] = journal;
    numbers[n + 5] = request.idSeed;
    numbers[n + 6] = request.number;
    numbers[n + 7] = counted === undefined ? 0 : counted.minute;
    numbers[n + 8] = windows.minute;
    numbers[n + 9] = windows.requests;
    numbers[n + 10] = windows.tokens;
    this.kindAt[this.size] = this.kindOf(change, counted?.key_id);
    for (const write of change.written) this.writes.add(write);
    this.size += 1;
    if (this.size % ROWS_IN_PIECE === 0) this.writes.endPiece();
  }

  /** @param row from the first, 0 @param journaled position of its request in the journal */
  answered(row: number, journaled: number): void {
    this.numbers[row * NUMBERS] = journaled;
  }

  /** The first row is nobody's any more. */
  letGoOfRoot(): void {
    this.root = undefined;
  }

  /** All rows, oldest first, whether they are anybody's or not; no more can be added then. */
  rows(): LotRow[] {
    if (this.size % ROWS_IN_PIECE > 0) this.writes.endPiece();
    const reader = this.writes.read();
    const subjects = this.subjects.values();
    const rows = Array.from({ length: this.size }, (_, row) => {
      if (row % ROWS_IN_PIECE === 0) reader.beginPiece();
      return this.rowOf(row, reader, subjects);
    });
    return this.root === undefined ? rows : sharing(this.root, rows);
  }

  /** Its place among the kinds. */
  private kindOf(change: RequestChange, key_id: string | undefined): number {
    const { request, written, frame, windows } = change;
    const { summary, principal } = request;
    const signs = this.signsOf(change);
    const { kinds } = this;
    for (let place = kinds.length - 1; place >= 0; place--) {
      const kind = kinds[place]!;
      const agrees =
        kind.signs === signs &&
        kind.frame === frame &&
        kind.summary === summary &&
        kind.principal === principal &&
        kind.key_id === key_id &&
        kind.windowKey === windows.key &&
        kind.otherWindows === windows.others &&
        areOf(written, kind.collections);
      if (agrees) return place;
    }
    const collections = written.map(({ collection }) => collection);
    const { key: windowKey, others: otherWindows } = windows;
    const kind = { summary, principal, key_id, frame, windowKey, otherWindows, signs, collections };
    return kinds.push(kind) - 1;
  }

  private signsOf({ named, written }: RequestChange): number {
    const subject = subjectOf(written, named);
    let ofSubject = NO_WRITE;
    let signs = 0;
    for (let at = written.length - 1; at >= 0; at--) {
      const { id, before, after } = written[at]!;
      if (id === subject) ofSubject = at;
      const sign = (before === undefined ? IS_NEW : 0) | (after === undefined ? 0 : STAYS);
      signs = (signs << WRITE_BITS) | sign;
    }
    if (ofSubject === NO_WRITE) this.subjects.push(subject);
    return (signs << SUBJECT_BITS) | ofSubject;
  }

  private rowOf(row: number, reader: WritesReader, subjects: Iterator<string | null>): LotRow {
    const numbers = [...this.numbers.subarray(row * NUMBERS, (row + 1) * NUMBERS)] as Numbers;
    const [journaled, draws, now, requests, journal, idSeed, number, minute, ...window] = numbers;
    const kind = this.kinds[this.kindAt[row]!]!;
    const { summary, principal, key_id, frame, windowKey, otherWindows, signs, collections } = kind;

    const written = collections.map((collection, at): KeptWrite => {
      const ofWrite = signs >> (SUBJECT_BITS + WRITE_BITS * at);
      const before = (ofWrite & IS_NEW) === 0 ? reader.nextBefore(collection) : undefined;
      const id = before === undefined ? reader.nextId() : collection.idOf(before);
      return { collection, id, before, stays: (ofWrite & STAYS) !== 0 };
    });
    const ofSubject = signs & NO_WRITE;
    const subject: string | null = ofSubject === NO_WRITE ? subjects.next().value : written[ofSubject]!.id;
    const counted = key_id === undefined ? undefined : { key_id, minute };
    const [windowMinute, windowRequests, tokens] = window;
    return {
      ...{ journaled, draws, now, requests, journal, subject, frame, written },
      root: row === 0 ? this.root : undefined,
      request: { idSeed, number, summary, principal, counted, uploads: undefined },
      windows: new CountedWindows(
        windowKey,
        { minute: windowMinute, requests: windowRequests, tokens },
        otherWindows,
      ),
    };
  }

  private grow(): void {
    const { numbers } = this;
    this.numbers = new Float64Array(2 * numbers.length);
    this.numbers.set(numbers);
  }
}

/** What was first written to since a root that is held is the very record of that root: who compares them knows it by that. */
function sharing({ tables }: Root, rows: readonly LotRow[]): LotRow[] {
  const seen = new Set<string>();
  const shared = (write: KeptWrite): KeptWrite => {
    const { collection, id } = write;
    const key = `${collection.name}\0${id}`;
    if (seen.has(key)) return write;
    seen.add(key);
    return { ...write, before: tables.get(collection.name)!.get(id) };
  };
  return rows.map((row) => ({ ...row, written: row.written.map(shared) }));
}

function areOf(written: readonly WrittenRecord[], collections: readonly AnyCollection[]): boolean {
  if (written.length !== collections.length) return false;
  for (let at = 0; at < written.length; at++) if (written[at]!.collection !== collections[at]) return false;
  return true;
}
