/** A choice where the published reference is silent. */
export interface Assumption {
  id: string;
  topic: string;
  chosen: string;
  /** What rests on it in particular, for docs/reference/assumptions.md. */
  details?: readonly string[];
}
