import type { LocaleDefinition } from "@faker-js/faker";

export const INVENTORS: readonly string[];
export function buildBrowser(): Promise<void>;
export function pickInvented(locale: object): LocaleDefinition;
