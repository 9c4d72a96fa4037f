// Measures the cost of a sandbox without a socket. Only this file uses internals of the built server; all other
// measures use the command line and HTTP.
import { existsSync } from "node:fs";

const BUILT = new URL("../../dist/understudy.js", import.meta.url);
const MOVED = "dept_infra";

/**
 * Opens a server's registry of sandboxes in this process, without listening. `fixture` is an inline fixture that must
 * have `departments` departments; the check excludes a fixture that is fast because it was not understood. `touch`
 * changes one record, so that reset and restore have something to undo.
 */
export async function openRegistry({ fixture, departments }) {
  if (!existsSync(BUILT)) throw new Error("dist/understudy.js is missing: run `npm run build` first");
  const { assemble } = await import(BUILT.href);
  const understudy = await assemble({ fixture });
  const { sandboxes } = understudy;
  const getSandbox = (name) => sandboxes.get(name);
  expectDepartments(getSandbox("default"), departments);
  let touches = 0;
  return {
    create: (name) => sandboxes.create({ name }),
    touch(name) {
      const { world } = getSandbox(name);
      const { collection } = world.root.tables.get("departments");
      world.transact((tx) => tx.update(collection, MOVED, { member_count: ++touches }));
    },
    reset: (name) => getSandbox(name).reset(),
    snapshot: (name, snapshot) => getSandbox(name).snapshots.set(snapshot, getSandbox(name).toValue()),
    restore: (name, snapshot) => getSandbox(name).restore(getSandbox(name).snapshots.get(snapshot)),
    fork: (name, as) => sandboxes.fork(getSandbox(name), as),
    remove: (name) => sandboxes.delete(name),
    // The server does not listen, so closing its sandboxes is enough.
    close: () => sandboxes.close(),
  };
}

function expectDepartments(sandbox, expected) {
  const { size } = sandbox.world.root.tables.get("departments");
  if (size < expected) throw new Error(`the fixture holds ${size} departments, not ${expected}`);
}
