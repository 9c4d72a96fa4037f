/** Endings of English plurals; the first that fits holds. */
const SINGULARS: readonly (readonly [plural: RegExp, singular: string])[] = [
  [/(?<=news|series|species|ss|sis|[^n]us)$/, ""],
  [/(?<=mov|cook|(?:^|_)[dlpt])ies$/, "ie"],
  [/ies$/, "y"],
  [/(?<=analy|cri|diagno|the)ses$/, "sis"],
  [/(?<=x|ss|sh|zz|[^a]ch|[eo]ach|[inprt]us|(?:^|_)bus|ias)es$/, ""],
  [/s$/, ""],
];

/** The name of one of a collection's records: "box" for `boxes`, "category" for `categories`. */
export function toSingular(plural: string): string {
  const [ending, singular] = SINGULARS.find(([one]) => one.test(plural)) ?? ["", ""];
  return plural.replace(ending, singular);
}
