/**
 * The parts of an operation that the published reference does not show, each with the assumption that fills the gap; it
 * shows the rest. Of several places that contain a part of the body, the most exact one decides.
 */
export interface AssumptionMap {
  /** The path, or that there is such an endpoint at all; then every answer is assumed, apart from places named below. */
  endpoint?: string;
  /** The status of a success. */
  status?: string;
  /** The whole body, apart from places named below. */
  body?: string;
  /** Parts of the body that are not shown: places with `*` for an array's items, and all that lies beneath them. */
  fields?: Readonly<Record<string, string>>;
  /** Parts whose names the reference shows, and neither types nor values. */
  types?: Readonly<Record<string, string>>;
  /** Parts whose names and types the reference shows, and not which values they have. */
  values?: Readonly<Record<string, string>>;
  /** Parts that the reference shows inside assumed ones: places, or `status`. */
  specified?: readonly string[];
  /** That errors come in its envelope; 7.1 says so of "most" operations, and only some sections show one. */
  envelope?: string;
}

interface Declared {
  section: string;
  assumed?: AssumptionMap;
}

/** The assumption that there is such an endpoint, or undefined where the reference shows it. */
export function assumedEndpoint({ section, assumed }: Declared): string | undefined {
  return section.startsWith("G") ? section : assumed?.endpoint;
}

export function assumedStatus(operation: Declared): string | undefined {
  const { status, specified } = operation.assumed ?? {};
  return specified?.includes("status") ? undefined : (assumedEndpoint(operation) ?? status);
}

export function assumedEnvelope(operation: Declared): string | undefined {
  return assumedEndpoint(operation) ?? operation.assumed?.envelope;
}

/** The three facts that a declaration states of a place; each needs the ones before it. */
const FACTS = ["presence", "type", "value"] as const;
export type Fact = (typeof FACTS)[number];

/** The assumption behind one fact about a place of a success's body; undefined where the reference states it. */
export function assumedPlace(operation: Declared, pointer: string, fact: Fact = "value"): string | undefined {
  const { body, fields = {}, types = {}, values = {}, specified = [] } = operation.assumed ?? {};
  const whole = assumedEndpoint(operation) ?? body;
  const shown = specified
    .filter((place) => place.startsWith("/"))
    .map((place) => [place, undefined] as const);
  const known: readonly [readonly (readonly [string, string | undefined])[], Fact | undefined][] = [
    [[["", whole], ...Object.entries(fields)], undefined],
    [Object.entries(types), "presence"],
    [Object.entries(values), "type"],
    [shown, "value"],
  ];
  const parts = pointer.split("/");
  let nearest = { exact: -1, gap: undefined as string | undefined };
  for (const [places, lastShown] of known) {
    for (const [place, gap] of places) {
      const wanted = place.split("/");
      if (!wanted.every((part, i) => part === parts[i] || (part === "*" && parts[i] !== undefined))) continue;
      const exact = wanted.length + wanted.filter((part) => part !== "*").length / 100;
      const isShown = lastShown !== undefined && FACTS.indexOf(fact) <= FACTS.indexOf(lastShown);
      if (exact > nearest.exact) nearest = { exact, gap: isShown ? undefined : gap };
    }
  }
  return nearest.gap;
}

export interface AssumedPart {
  /** Such as `status` or `/color`. */
  part: string;
  assumption: string;
}

/** All assumed parts, for the ledger and the OpenAPI document; an assumed endpoint stands for all that is not shown. */
export function assumedParts(operation: Declared): AssumedPart[] {
  const endpoint = assumedEndpoint(operation);
  const { status, envelope, body, fields, types, values } = operation.assumed ?? {};
  const label = (places: Readonly<Record<string, string>> = {}, what: string) =>
    Object.entries(places).map(([place, id]): [string, string] => [`${what}${place}`, id]);
  const own = endpoint === undefined ? { status, "envelope of errors": envelope, body } : { endpoint };
  const parts: [string, string | undefined][] = [
    ...Object.entries(own),
    ...label(fields, ""),
    ...label(types, "type of "),
    ...label(values, "values of "),
  ];
  return parts.flatMap(([part, assumption]) => (assumption === undefined ? [] : [{ part, assumption }]));
}

/** A choice where the published reference is silent. */
export interface Assumption {
  id: string;
  topic: string;
  chosen: string;
  /** Its consequences, for docs/reference/assumptions.md. */
  details?: readonly string[];
}
