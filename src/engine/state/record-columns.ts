type Fields = Readonly<Record<string, unknown>>;

/** What a field is in each of the records: one value for each, or which of few values it is. */
interface Column {
  readonly values: unknown[];
  /** Where few are shared by all: which of `values` it is, as so many bits for each record, in numbers that are integers to V8. */
  readonly places?: number[];
}

/** Records as JSON: the first, how many there are, and by field, where they differ in it, what it is in each. */
export interface WrittenColumns {
  readonly first: Fields;
  readonly count: number;
  readonly differing: Readonly<Record<string, Column>>;
}

const PLACE_BITS = 2;
const PLACES_IN_NUMBER = 15;
/** Of more values than these, looking for one costs more than writing it again. */
const MAX_SHARED_VALUES = 1 << PLACE_BITS;

/**
 * Flat records of one shape but for their ids, field by field. Many that are alike take a fifth of the room so, and are
 * written as text in a third of the time.
 */
export class RecordColumns {
  count = 0;
  readonly first: Fields;
  private readonly idField: string | undefined;
  private readonly names: readonly string[];
  private readonly values: readonly unknown[];
  private readonly columns: (Column | undefined)[];

  private constructor(first: object, idField: string | undefined) {
    this.first = first as Fields;
    this.idField = idField;
    this.names = Object.keys(first);
    this.values = Object.values(first);
    this.columns = new Array(this.names.length).fill(undefined);
  }

  /**
   * Without any yet; undefined: not all values of `first` are plain.
   * @param first what its records are like
   * @param idField a field whose values are left to whoever needs them
   */
  static like(first: object, idField?: string): RecordColumns | undefined {
    const columns = new RecordColumns(first, idField);
    return columns.values.every(isPlain) ? columns : undefined;
  }

  /** @returns whether it was taken: no value of it is a list or an object, and its fields are those of the first */
  add(record: object): boolean {
    const { names, values, columns, count } = this;
    let field = 0;
    for (const name in record) {
      if (name !== names[field]) return this.withoutLast();
      const value = (record as Fields)[name];
      const column = columns[field];
      if (column !== undefined || value !== values[field]) {
        if (!isPlain(value)) return this.withoutLast();
        if (name !== this.idField)
          columns[field] = withNext(column ?? columnOf(values[field], count), value, count);
      }
      field += 1;
    }
    if (field < names.length) return this.withoutLast();
    this.count += 1;
    return true;
  }

  written(): WrittenColumns {
    const { first, count } = this;
    return { first, count, differing: this.differingFields() };
  }

  /** Begins anew, with records that are like the same first one. @returns in what those before differed from it */
  restart(): WrittenColumns["differing"] {
    const differing = this.differingFields();
    this.columns.fill(undefined);
    this.count = 0;
    return differing;
  }

  private differingFields(): WrittenColumns["differing"] {
    const { names, columns } = this;
    const differing: Record<string, Column> = {};
    for (let field = 0; field < names.length; field++) {
      const column = columns[field];
      if (column !== undefined) differing[names[field]!] = column;
    }
    return differing;
  }

  /** What was begun for a record that does not fit is taken back. */
  private withoutLast(): false {
    for (const column of this.columns) {
      if (column?.places !== undefined) clearPlace(column.places, this.count);
      else if (column !== undefined) column.values.length = this.count;
    }
    return false;
  }
}

/** A field that was the same in so many records. */
function columnOf(value: unknown, count: number): Column {
  return { values: [value], places: new Array<number>(Math.ceil(count / PLACES_IN_NUMBER)).fill(0) };
}

/** The same column, unless it was to share its values and has too many of them now. @param count of records before */
function withNext(column: Column, value: unknown, count: number): Column {
  const { values, places } = column;
  if (places === undefined) {
    values.push(value);
    return column;
  }
  let place = 0;
  while (place < values.length && values[place] !== value) place += 1;
  if (place === MAX_SHARED_VALUES) {
    const each = Array.from({ length: count }, (_, at) => values[placeAt(places, at)]);
    return { values: [...each, value] };
  }
  if (place === values.length) values.push(value);
  if (count % PLACES_IN_NUMBER === 0) places.push(place);
  else places[places.length - 1]! |= place << shiftOf(count);
  return column;
}

function placeAt(places: readonly number[], at: number): number {
  return (places[Math.floor(at / PLACES_IN_NUMBER)]! >> shiftOf(at)) & (MAX_SHARED_VALUES - 1);
}

/** @param at where there may be one, the last */
function clearPlace(places: number[], at: number): void {
  if (at % PLACES_IN_NUMBER === 0) places.length = at / PLACES_IN_NUMBER;
  else places[places.length - 1]! &= (1 << shiftOf(at)) - 1;
}

function shiftOf(at: number): number {
  return PLACE_BITS * (at % PLACES_IN_NUMBER);
}

/**
 * One of the records.
 * @param columns that may have been JSON in between
 * @param left the field that was left out, and what it is in this one
 */
export function recordAt(
  { first, differing }: Omit<WrittenColumns, "count">,
  at: number,
  left: Fields = {},
): object {
  const record: Record<string, unknown> = { ...first, ...left };
  for (const name in differing) {
    const { values, places } = differing[name]!;
    record[name] = values[places === undefined ? at : placeAt(places, at)];
  }
  return record;
}

function isPlain(value: unknown): boolean {
  return typeof value === "string" || value === null || Number.isFinite(value) || typeof value === "boolean";
}
