import { setTimeout as sleep } from "node:timers/promises";
import Type from "typebox";
import { noContent, Reply } from "../../contract/operation.ts";
import type { Sandbox, SandboxValue } from "../../sandbox/sandbox.ts";
import { encodeSnapshot } from "../../sandbox/snapshot-document.ts";
import type { WorldValue } from "../../state/world.ts";
import { requireRoomForRecords, requireRoomForUploads } from "../limits.ts";
import { type AnyControlOperation, controlOperation, S } from "../operation.ts";
import { conflict, unknownName, unprocessable } from "../problem.ts";
import { presentSandbox, recordsOf } from "../sandbox-body.ts";
import { worldDifference } from "../snapshot-diff.ts";
import { readSnapshot } from "../snapshot-input.ts";

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;
/** In a diff, the world as it is. */
const NOW = "now";
const MOST_SNAPSHOTS = 1000;
const UPLOAD_LIMIT = 256 * 1024 * 1024;
/** So long a snapshot waits for deliveries that are under way, lest it hold half of an attempt. */
const PATIENCE_MS = 5000;

const SnapParams = Type.Object({ name: Type.String(), snap: Type.String() });

const listSnapshots = controlOperation({
  id: "snapshots.list",
  method: "GET",
  path: `${S}/snapshots`,
  summary: "List snapshots in the order in which they were saved",
  handle({ sandbox }) {
    const items = [...sandbox.snapshots].map(([name, value]) => presentSnapshot(name, value));
    return { items, total: items.length };
  },
});

const saveSnapshot = controlOperation({
  id: "snapshots.save",
  method: "POST",
  path: `${S}/snapshots`,
  summary: "Keep the present under a name",
  status: 201,
  body: { schema: Type.Object({ name: Type.String() }, { additionalProperties: false }) },
  async handle({ body: { name }, sandbox }) {
    requireName(sandbox, name);
    await Promise.race([sandbox.world.settled(), sleep(PATIENCE_MS, undefined, { ref: false })]);
    // Asked again, since the name may have been taken while this one waited.
    if (sandbox.snapshots.has(name)) {
      throw conflict(
        "name-in-use",
        `There is a snapshot ${name} already`,
        "delete it first, or choose another name",
      );
    }
    return presentSnapshot(name, sandbox.saveSnapshot(name));
  },
});

const downloadSnapshot = controlOperation({
  id: "snapshots.download",
  method: "GET",
  path: `${S}/snapshots/{snap}`,
  summary: "Download a snapshot, complete in itself",
  params: SnapParams,
  async handle({ params: { snap }, sandbox, server }) {
    const document = await encodeSnapshot(snapshotOf(sandbox, snap), server.sandboxes.blobs);
    return { name: snap, ...document };
  },
});

const uploadSnapshot = controlOperation({
  id: "snapshots.upload",
  method: "PUT",
  path: `${S}/snapshots/{snap}`,
  summary: "Upload a snapshot that was downloaded from this sandbox or another",
  params: SnapParams,
  body: { schema: Type.Object({}, { additionalProperties: true }), limit: UPLOAD_LIMIT },
  async handle({ params: { snap }, body, sandbox, server }) {
    requireName(sandbox, snap);
    const value = await readSnapshot(server, body);
    try {
      requireRoomForRecords(server, value.world.root);
      requireRoomForUploads(server, sandbox, { name: snap, value });
    } catch (error) {
      server.sandboxes.blobs.release(value.blobs);
      throw error;
    }
    const existed = sandbox.snapshots.has(snap);
    return new Reply(existed ? 200 : 201, presentSnapshot(snap, sandbox.saveSnapshot(snap, value)));
  },
});

const deleteSnapshot = controlOperation({
  id: "snapshots.delete",
  method: "DELETE",
  path: `${S}/snapshots/{snap}`,
  summary: "Forget a snapshot",
  params: SnapParams,
  handle({ params: { snap }, sandbox }) {
    snapshotOf(sandbox, snap);
    sandbox.deleteSnapshot(snap);
    return noContent();
  },
});

const restoreSnapshot = controlOperation({
  id: "snapshots.restore",
  method: "POST",
  path: `${S}/snapshots/{snap}/restore`,
  summary: "Make a snapshot the present; settings, scenarios, faults and journal stay",
  params: SnapParams,
  handle({ params: { snap }, sandbox, origin }) {
    sandbox.restore(snapshotOf(sandbox, snap));
    return presentSandbox(sandbox, origin);
  },
});

const diffSnapshots = controlOperation({
  id: "snapshots.diff",
  method: "GET",
  path: `${S}/snapshots/{a}/diff/{b}`,
  summary: "Say what was added, removed and changed between two snapshots; `now` names the present",
  params: Type.Object({ name: Type.String(), a: Type.String(), b: Type.String() }),
  handle({ params: { a, b }, sandbox, server }) {
    return worldDifference(server, worldOf(sandbox, a), worldOf(sandbox, b));
  },
});

function presentSnapshot(name: string, { taken_at, world }: SandboxValue) {
  return { name, taken_at: new Date(taken_at).toISOString(), records: recordsOf(world.root) };
}

/** @throws Problem 422 for a name that cannot be, 409 when there are too many */
function requireName(sandbox: Sandbox, name: string): void {
  if (!NAME.test(name) || name === NOW) {
    throw unprocessable(
      "name",
      name,
      "must be 1 to 63 letters, digits, dots, hyphens and underscores, and not `now`, which names the present",
    );
  }
  if (sandbox.snapshots.size >= MOST_SNAPSHOTS && !sandbox.snapshots.has(name)) {
    throw conflict("limit-reached", `There are ${MOST_SNAPSHOTS} snapshots already`, "delete one first");
  }
}

/** @throws Problem 404 */
function snapshotOf(sandbox: Sandbox, name: string): SandboxValue {
  const value = sandbox.snapshots.get(name);
  if (value === undefined) throw unknownName("snapshot", name, sandbox.snapshots.keys());
  return value;
}

function worldOf(sandbox: Sandbox, name: string): WorldValue {
  if (name !== NOW) return snapshotOf(sandbox, name).world;
  sandbox.world.catchUp();
  return sandbox.world.value();
}

export const SNAPSHOT_OPERATIONS: readonly AnyControlOperation[] = [
  listSnapshots,
  saveSnapshot,
  restoreSnapshot,
  downloadSnapshot,
  uploadSnapshot,
  deleteSnapshot,
  diffSnapshots,
];
