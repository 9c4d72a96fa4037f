/**
 * The parts of an operation that the published reference does not show, each with the assumption that is used
 * its place; it shows the rest.
 */
export interface Assumed {
  /** The path, or that there is such an endpoint at all; then everything it answers is assumed too. */
  endpoint?: string;
  /** The status of a success. */
  status?: string;
  /** The whole body. */
  body?: string;
  /** Parts of the body: places with `*` for an array's items, and all that lies beneath them. */
  fields?: Readonly<Record<string, string>>;
  /** Parts whose names the reference shows, and neither types nor values. */
  types?: Readonly<Record<string, string>>;
  /** Headers of a success, in lower case. */
  headers?: Readonly<Record<string, string>>;
  /** That errors come in its envelope; 7.1 says so of "most" operations, and only some sections show one. */
  envelope?: string;
}

interface Declared {
  section: string;
  assumed?: Assumed;
}

/** The assumption that there is such an endpoint, or undefined where the reference shows it. */
export function assumedEndpoint({ section, assumed }: Declared): string | undefined {
  return section.startsWith("G") ? section : assumed?.endpoint;
}

export function assumedStatus(operation: Declared): string | undefined {
  return assumedEndpoint(operation) ?? operation.assumed?.status;
}

export function assumedHeader(operation: Declared, name: string): string | undefined {
  return assumedEndpoint(operation) ?? operation.assumed?.headers?.[name.toLowerCase()];
}

export function assumedEnvelope(operation: Declared): string | undefined {
  return assumedEndpoint(operation) ?? operation.assumed?.envelope;
}

/**
 * The assumption behind what the declaration says of one place of a success's body; `missing` where the
 * question is whether it is there at all.
 */
export function assumedPlace(
  operation: Declared,
  pointer: string,
  { missing = false } = {},
): string | undefined {
  const whole = assumedEndpoint(operation) ?? operation.assumed?.body;
  if (whole !== undefined) return whole;
  const { fields = {}, types = {} } = operation.assumed ?? {};
  const parts = pointer.split("/");
  for (const [place, gap] of Object.entries(missing ? fields : { ...types, ...fields })) {
    const wanted = place.split("/");
    if (wanted.every((part, i) => part === parts[i] || (part === "*" && parts[i] !== undefined))) return gap;
  }
  return undefined;
}

export interface AssumedPart {
  /** Such as `status`, `header x-provider` or `/color`. */
  part: string;
  assumption: string;
}

/** Everything of it that is assumed, for the ledger and the OpenAPI document; the endpoint stands for all the rest. */
export function assumedParts(operation: Declared): AssumedPart[] {
  const endpoint = assumedEndpoint(operation);
  if (endpoint !== undefined) return [{ part: "endpoint", assumption: endpoint }];
  const { status, envelope, headers = {}, body, fields = {}, types = {} } = operation.assumed ?? {};
  const parts: [string, string | undefined][] = [
    ...Object.entries({ status, "envelope of errors": envelope, body }),
    ...Object.entries(headers).map(([name, id]): [string, string] => [`header ${name}`, id]),
    ...Object.entries(fields),
    ...Object.entries(types).map(([place, id]): [string, string] => [`type of ${place}`, id]),
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
