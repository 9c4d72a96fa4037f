export const SECTIONS: readonly string[];
export const GAPS: readonly string[];
export function clausesOf(title: string): string[];
export function provedClauses(): Map<string, Set<string>>;
export function unproved(): string[];
/** Titles that begin with a citation: file and title. */
export function leadingCitations(): string[];
