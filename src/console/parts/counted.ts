/** "1 header", "3,000 headers"; what has a plural of its own names it. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en-GB")} ${count === 1 ? one : many}`;
}

/** What one record of a collection is called: "delivery" of `deliveries`, "store file" of `store_files`. */
export function recordWords(collection: string): string {
  return collection.replaceAll("_", " ").replace(/ies$/, "y").replace(/s$/, "");
}
