export const SECTIONS: readonly string[];
export const GAPS: readonly string[];
export function listClauses(title: string): string[];
export function listTestedClauses(): Map<string, Set<string>>;
export function listUntested(): string[];
/** Titles that begin with a citation: file and title. */
export function listLeadingCitations(): string[];
