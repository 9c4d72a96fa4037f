import type { LocaleDefinition } from "@faker-js/faker";

export function buildBrowser(): Promise<void>;
export function pickUsedLists(locale: object): LocaleDefinition;
