/** "1 step", "2 steps"; what has a plural of its own names it. */
export function pluralize(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** "1 entry was", "no entries were" lost to a bound; `which`, as in "older", stands before the noun. */
export function lostEntries(count: number, which?: string): string {
  const words = which === undefined ? "" : `${which} `;
  return count === 1 ? `1 ${words}entry was` : `${count === 0 ? "no" : count} ${words}entries were`;
}
