/** Something about the kept worlds that the user must know before the server can run; one sentence or two. */
export class PersistenceError extends Error {
  override readonly name = "PersistenceError";
}
