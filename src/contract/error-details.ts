/** Where one detail of an error comes from (section 7.1). */
export type DetailSource =
  /** What the request carries under the detail's name, in its path, body or query. */
  | "request"
  /** G32: the organization that the request is about. */
  | "organization"
  /** The field at fault and what was sent there (G08). */
  | "input"
  /** The caller's rate window (section 8). */
  | "rate"
  /** The caller's monthly limits (4.17). */
  | "spending"
  /** A JSON pointer into the body. */
  | { body: string }
  | { always: string | number };

/** The details of an error by name; a list names values that the request carries. */
export type Details = readonly string[] | Readonly<Record<string, DetailSource>>;
