/**
 * The parts of an operation that the published reference does not show, each with the id of the assumption that fills
 * the gap, such as `G09`. Of several places that contain a part of the body, the most exact one decides.
 */
export interface AssumptionMap {
  /** The path, or the endpoint as a whole. With it, every answer is assumed, apart from the places named below. */
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
  /** The form of errors: the reference's section 7.1 states it for "most" operations, and only some sections show it. */
  envelope?: string;
}

interface DeclaredSource {
  /** A section of the reference, such as `4.11`; an assumption, such as `G09`, for an endpoint that the reference lacks. */
  section: string;
  assumed?: AssumptionMap;
}

/** The assumption that the endpoint exists; undefined if the reference shows it. */
export function findEndpointAssumption({ section, assumed }: DeclaredSource): string | undefined {
  return section.startsWith("G") ? section : assumed?.endpoint;
}

export function findStatusAssumption(operation: DeclaredSource): string | undefined {
  const { status, specified } = operation.assumed ?? {};
  return specified?.includes("status") ? undefined : (findEndpointAssumption(operation) ?? status);
}

/** The three facts about a place in a declaration; the reference states one only together with those before it. */
const FACTS = ["presence", "type", "value"] as const;
type Fact = (typeof FACTS)[number];

/** The assumption behind a fact about a place of a success's body; undefined if the reference states it. */
export function findPlaceAssumption(
  operation: DeclaredSource,
  pointer: string,
  fact: Fact = "value",
): string | undefined {
  const { body, fields = {}, types = {}, values = {}, specified = [] } = operation.assumed ?? {};
  // How many of the three facts the reference states about each place, and the assumption behind the others: of `fields`
  // it states none, of `types` the presence, of `values` also the type.
  const places: [place: string, statedCount: number, assumption?: string][] = [
    ["", 0, findEndpointAssumption(operation) ?? body],
    ...Object.entries(fields).map(([place, id]): [string, number, string] => [place, 0, id]),
    ...Object.entries(types).map(([place, id]): [string, number, string] => [place, 1, id]),
    ...Object.entries(values).map(([place, id]): [string, number, string] => [place, 2, id]),
    ...specified.map((place): [string, number] => [place, FACTS.length]),
  ];
  const parts = pointer.split("/");
  let nearest = { exactness: -1, assumption: undefined as string | undefined };
  for (const [place, statedCount, assumption] of places) {
    const placeParts = place.split("/");
    if (!placeParts.every((part, i) => part === parts[i] || (part === "*" && parts[i] !== undefined)))
      continue;
    // The longer place is more exact; of two equally long ones, that with fewer `*`.
    const exactness = placeParts.length + placeParts.filter((part) => part !== "*").length / 100;
    if (exactness > nearest.exactness)
      nearest = { exactness, assumption: FACTS.indexOf(fact) < statedCount ? undefined : assumption };
  }
  return nearest.assumption;
}

export interface AssumedPart {
  /** The name or pointer of the part, such as `status` or `/color`. */
  part: string;
  assumption: string;
}

/** All assumed parts, for the ledger and the OpenAPI document; an assumed endpoint includes status, errors and body. */
export function listAssumedParts(operation: DeclaredSource): AssumedPart[] {
  const endpoint = findEndpointAssumption(operation);
  const { status, envelope, body, fields, types, values } = operation.assumed ?? {};
  const label = (places: Readonly<Record<string, string>> = {}, prefix: string) =>
    Object.entries(places).map(([place, id]): [string, string] => [`${prefix}${place}`, id]);
  const mainParts =
    endpoint === undefined ? { status, "form of errors": envelope, "response body": body } : { endpoint };
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

export type AssumptionsById = Readonly<Record<string, Omit<Assumption, "id">>>;
