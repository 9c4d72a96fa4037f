/** "1 step", "2 steps"; what has a plural of its own names it. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** "1 entry was", "no entries were" lost to a bound. */
export const lostEntries = (count: number) =>
  count === 1 ? "1 entry was" : `${count === 0 ? "no" : count} entries were`;
