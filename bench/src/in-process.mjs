// The one place that knows the built library's inside: what a sandbox costs without a socket between.
// Everything else in bench/ goes through the command line and HTTP.

/**
 * Opens a server's registry of sandboxes in this process.
 * Returns {create(name), touch(name), reset(name), snapshot(name, snapshot), restore(name, snapshot),
 * fork(name, as), remove(name), close()}; each may return a promise. `touch` changes one record (a reparent),
 * so that reset and restore have something to undo.
 */
export async function openRegistry({ fixture }) {
  throw new Error(
    `the in-process adapter is not filled in yet (bench/src/in-process.mjs, fixture ${fixture})`,
  );
}
