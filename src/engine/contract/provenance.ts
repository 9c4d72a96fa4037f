/**
 * The parts of an operation that the published reference does not show, each with the assumption that fills the gap. Of
 * several places that contain a part of the body, the most exact one decides.
 */
export interface AssumptionMap {
  /** The path, or the endpoint as a whole; then every answer is assumed, apart from the places named below. */
  endpoint?: string;
  status?: string;
  /** The whole body, apart from the places named below. */
  body?: string;
  /** Parts of the body that are not shown, with everything below them; `*` in a place means an array's items. */
  fields?: Readonly<Record<string, string>>;
  /** Parts of which the reference shows names, but neither types nor values. */
  types?: Readonly<Record<string, string>>;
  /** Parts of which the reference shows names and types, but not the possible values. */
  values?: Readonly<Record<string, string>>;
  /** Parts that the reference shows within assumed ones: places, or `status`. */
  specified?: readonly string[];
  /** The envelope of errors: 7.1 states it for "most" operations, and only some sections show it. */
  envelope?: string;
}

interface DeclaredSource {
  section: string;
  assumed?: AssumptionMap;
}

/** The assumption that the endpoint exists; undefined if the reference shows it. */
export function findAssumedEndpoint({ section, assumed }: DeclaredSource): string | undefined {
  return section.startsWith("G") ? section : assumed?.endpoint;
}

export function findAssumedStatus(operation: DeclaredSource): string | undefined {
  const { status, specified } = operation.assumed ?? {};
  return specified?.includes("status") ? undefined : (findAssumedEndpoint(operation) ?? status);
}

/** The three facts about a place in a declaration; each needs the ones before it. */
const FACTS = ["presence", "type", "value"] as const;
export type Fact = (typeof FACTS)[number];

/** The assumption behind a fact about a place of a success's body; undefined if the reference states it. */
export function findAssumedPlace(
  operation: DeclaredSource,
  pointer: string,
  fact: Fact = "value",
): string | undefined {
  const { body, fields = {}, types = {}, values = {}, specified = [] } = operation.assumed ?? {};
  const bodyAssumption = findAssumedEndpoint(operation) ?? body;
  const specifiedPlaces = specified
    .filter((place) => place.startsWith("/"))
    .map((place) => [place, undefined] as const);
  const assumedPlaces: readonly [readonly (readonly [string, string | undefined])[], Fact | undefined][] = [
    [[["", bodyAssumption], ...Object.entries(fields)], undefined],
    [Object.entries(types), "presence"],
    [Object.entries(values), "type"],
    [specifiedPlaces, "value"],
  ];
  const parts = pointer.split("/");
  let nearest = { exactness: -1, gap: undefined as string | undefined };
  for (const [places, lastStated] of assumedPlaces) {
    for (const [place, gap] of places) {
      const placeParts = place.split("/");
      if (!placeParts.every((part, i) => part === parts[i] || (part === "*" && parts[i] !== undefined)))
        continue;
      const exactness = placeParts.length + placeParts.filter((part) => part !== "*").length / 100;
      const isStated = lastStated !== undefined && FACTS.indexOf(fact) <= FACTS.indexOf(lastStated);
      if (exactness > nearest.exactness) nearest = { exactness, gap: isStated ? undefined : gap };
    }
  }
  return nearest.gap;
}

export interface AssumedPart {
  /** The name or pointer of the part, such as `status` or `/color`. */
  part: string;
  assumption: string;
}

/** All assumed parts, for the ledger and the OpenAPI document; an assumed endpoint includes all of its parts. */
export function listAssumedParts(operation: DeclaredSource): AssumedPart[] {
  const endpoint = findAssumedEndpoint(operation);
  const { status, envelope, body, fields, types, values } = operation.assumed ?? {};
  const label = (places: Readonly<Record<string, string>> = {}, prefix: string) =>
    Object.entries(places).map(([place, id]): [string, string] => [`${prefix}${place}`, id]);
  const mainParts = endpoint === undefined ? { status, "envelope of errors": envelope, body } : { endpoint };
  const parts: [string, string | undefined][] = [
    ...Object.entries(mainParts),
    ...label(fields, ""),
    ...label(types, "type of "),
    ...label(values, "values of "),
  ];
  return parts.flatMap(([part, assumption]) => (assumption === undefined ? [] : [{ part, assumption }]));
}

/** A decision about a point that the published reference leaves open. */
export interface Assumption {
  id: string;
  topic: string;
  chosen: string;
  /** Its consequences, for docs/reference/assumptions.md. */
  details?: readonly string[];
}
