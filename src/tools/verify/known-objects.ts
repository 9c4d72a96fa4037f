import type { AnyOperation } from "../../engine/contract/operation.ts";
import { getPrefix } from "../../engine/contract/schema.ts";
import { isMadeUp, madeUpId } from "./call.ts";
import type { ObjectNames } from "./contract.ts";
import { USABLE } from "./uses.ts";

const MAX_SEEN = 20;

export type Binding = Readonly<Record<string, string>>;

/** The objects that checks may ask for: given by the user, else found, else seen in some answer. */
export class KnownObjects {
  private readonly names: ObjectNames;
  private readonly given: ReadonlyMap<string, readonly string[]>;
  private readonly tuples: Binding[] = [];
  private readonly seen = new Map<string, Set<string>>();

  constructor(names: ObjectNames, given: ReadonlyMap<string, readonly string[]> = new Map()) {
    this.names = names;
    this.given = given;
  }

  /** Ids that belong together, such as a file and its store. */
  found(binding: Binding): void {
    this.tuples.push(binding);
  }

  /** Looks for ids among the values of an answer's JSON. */
  read(value: unknown): void {
    if (typeof value === "object" && value !== null) {
      for (const [key, inner] of Object.entries(value)) {
        if (this.names.withoutPrefix.has(key) && typeof inner === "string") this.add(key, inner);
        this.read(inner);
      }
      return;
    }
    if (typeof value !== "string" || isMadeUp(value)) return;
    const name = this.names.ofId(value);
    if (name !== undefined) this.add(name, value);
  }

  private add(name: string, id: string): void {
    const ids = this.seen.get(name) ?? new Set();
    this.seen.set(name, ids);
    if (ids.size < MAX_SEEN) ids.add(id);
  }

  one(name: string): string | undefined {
    return this.candidates(name)[0];
  }

  isGiven(name: string): boolean {
    return this.given.has(name);
  }

  candidates(name: string): readonly string[] {
    const known = this.names.parameter(name);
    const given = this.given.get(known);
    if (given !== undefined) return given;
    const found = this.tuples.flatMap((tuple) => (tuple[known] === undefined ? [] : [tuple[known]]));
    return [...new Set([...found, ...(this.seen.get(known) ?? [])])];
  }

  /** Values for all the parameters, the likeliest first: those known to belong together, then any. */
  bindings(names: readonly string[], most = 6): Binding[] {
    const together = this.tuples
      .filter((tuple) => names.every((name) => this.fits(tuple, name)))
      .map((tuple) => Object.fromEntries(names.map((name) => [name, this.valueIn(tuple, name)!])));
    let any: Binding[] = [{}];
    for (const name of names) {
      const values = this.candidates(name);
      any = any.flatMap((binding) => values.slice(0, most).map((value) => ({ ...binding, [name]: value })));
    }
    const unique = new Map([...together, ...any].map((binding) => [JSON.stringify(binding), binding]));
    return [...unique.values()].slice(0, most);
  }

  private valueIn(tuple: Binding, name: string): string | undefined {
    const known = this.names.parameter(name);
    return known === "organization_id" ? this.one(known) : tuple[known];
  }

  private fits(tuple: Binding, name: string): boolean {
    const value = this.valueIn(tuple, name);
    const given = this.given.get(this.names.parameter(name));
    return value !== undefined && (given === undefined || given.includes(value));
  }
}

export function parameterNames({ params }: AnyOperation): string[] {
  return Object.keys(params?.properties ?? {});
}

/** Invented ids for all path parameters except those given. */
export function madeUpParams({ params }: AnyOperation, given: Binding = {}): Binding {
  const schemas = (params?.properties ?? {}) as Record<string, object>;
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, given[name] ?? madeUpId(getPrefix(schema) ?? "")]),
  );
}

/** Why an operation cannot be asked, and what the user may do about it. */
export function whatIsMissing(known: KnownObjects, names: readonly string[]): string {
  const missing = names.filter((name) => known.candidates(name).length === 0);
  const wanted = missing.map((name) =>
    Object.hasOwn(USABLE, name) ? `--use ${name}=… (${USABLE[name]})` : name,
  );
  return `not known: ${wanted.join(", ")}`;
}
