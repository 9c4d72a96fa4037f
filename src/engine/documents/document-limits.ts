/** The bounds of a document; one beyond them is refused early, before it takes much memory. */
export interface DocumentLimits {
  /** Size of the text in bytes of UTF-8. */
  maxBytes: number;
  /** Lexical tokens plus lines; reading costs time and memory in step with their number. */
  maxTokens: number;
  /** Values after every alias was replaced by its target. */
  maxValues: number;
  /** Maps and lists within one another. */
  maxDepth: number;
  /** Characters of one text, key or comment. */
  maxScalar: number;
}

/** For texts from any client: reading the worst of them takes less than a second. */
export const DEFAULT_LIMITS: DocumentLimits = {
  maxBytes: 16 * 1024 * 1024,
  maxTokens: 300_000,
  maxValues: 200_000,
  maxDepth: 64,
  maxScalar: 1_000_000,
};

/** For OpenAPI documents, and for large fixtures in JSON. */
export const LARGE_LIMITS: DocumentLimits = {
  ...DEFAULT_LIMITS,
  maxBytes: 64 * 1024 * 1024,
  maxTokens: 8_000_000,
  maxValues: 4_000_000,
};

/**
 * Whether documents must not contain a key, since it reaches an object's prototype when a value is merged or copied. In
 * documents whose keys are free names, such as those of OpenAPI, only `__proto__` is refused.
 */
export function isDangerousKey(key: string, hasFreeKeys = false): boolean {
  return key === "__proto__" || (!hasFreeKeys && (key === "constructor" || key === "prototype"));
}
