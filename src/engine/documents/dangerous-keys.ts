/** Keys that reach an object's prototype when a value is merged or copied; no document may carry them. */
export const DANGEROUS_KEYS: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);
