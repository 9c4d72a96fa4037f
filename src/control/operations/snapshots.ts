import { type Static, Type } from "typebox";
import { Reply } from "../../engine/contract/reply.ts";
import { ClosedObject, ListOf, Timestamp } from "../../engine/contract/schema.ts";
import type { Sandbox } from "../../engine/sandbox/sandbox.ts";
import type { SandboxValue } from "../../engine/sandbox/sandbox-value.ts";
import { encodeSnapshot } from "../../engine/sandbox/snapshots.ts";
import type { WorldValue } from "../../engine/state/world-parts.ts";
import { requireRoomForRecords, requireRoomForUploads } from "../limits.ts";
import {
  type ControlOperation,
  OptionalText,
  operation,
  sandboxParams,
  toList,
  waitForDeliveries,
} from "../operation.ts";
import { pointWebhooksAtOwnReceivers } from "../own-receivers.ts";
import { conflict, unknownName, unprocessable } from "../problem.ts";
import { RemoteSandbox, requireNamedSandbox } from "../remote-sandbox.ts";
import { renderSandbox, SandboxBody, sumRecords } from "../sandbox-body.ts";
import { compareWorlds, DifferenceBody } from "../snapshot-diff.ts";
import { readSnapshot, SnapshotFile } from "../snapshot-input.ts";

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;
/** Names the current state, in place of a snapshot. */
const NOW = "now";
const MAX_SNAPSHOTS = 1000;
const MAX_UPLOAD_BYTES = 256 * 1024 * 1024;

const SnapshotParams = sandboxParams({
  snap: Type.String({ description: "The snapshot's name", examples: ["before"] }),
});
const SnapshotPairParams = sandboxParams({
  a: Type.String({ description: "A snapshot, or `now`", examples: ["before"] }),
  b: Type.String({ description: "A snapshot, or `now`", examples: ["now"] }),
});

/** With `of`, a fork can be compared with its source. */
const DifferenceQuery = ClosedObject({
  of: OptionalText("The sandbox whose snapshot `b` is; by default the one in the path", { minLength: 1 }),
});

export const SnapshotBody = ClosedObject(
  {
    name: Type.String(),
    taken_at: Timestamp({ description: "On the sandbox's clock" }),
    records: Type.Integer({ minimum: 0, description: "How many it holds" }),
  },
  {
    $id: "Snapshot",
    examples: [{ name: "before", taken_at: "2026-03-15T12:00:00.000Z", records: 412 }],
  },
);

export const SNAPSHOT_OPERATIONS: readonly ControlOperation[] = [
  operation({
    id: "snapshots.list",
    route: "GET /_control/sandboxes/{name}/snapshots",
    summary: "List snapshots, oldest first",
    success: { status: 200, schema: ListOf(SnapshotBody) },
    handle({ sandbox }) {
      return toList([...sandbox.snapshots].map(([name, value]) => renderSnapshot(name, value)));
    },
  }),
  operation({
    id: "snapshots.save",
    route: "POST /_control/sandboxes/{name}/snapshots",
    summary: "Save the current state",
    description:
      "Contains data, credentials, clock, timers, pending deliveries, half-finished uploads and random state. Waits up to 5 s for deliveries in progress.",
    body: {
      kind: "json",
      schema: ClosedObject(
        {
          name: Type.String({
            description: "1 to 63 letters, digits, dots, hyphens and underscores; not `now`",
          }),
        },
        { examples: [{ name: "before" }] },
      ),
    },
    errors: ["name-in-use", "limit-reached"],
    success: { status: 201, schema: SnapshotBody },
    async handle({ body: { name }, sandbox }) {
      requireName(name);
      await waitForDeliveries(sandbox);
      // Checked after the wait, in which another call may take the name or the last free place.
      requireRoomForSnapshot(sandbox, name);
      if (sandbox.snapshots.has(name))
        throw conflict(
          "name-in-use",
          `There is a snapshot "${name}" already`,
          "delete it first, or choose another name",
        );
      return renderSnapshot(name, sandbox.saveSnapshot(name));
    },
  }),
  operation({
    id: "snapshots.restore",
    route: "POST /_control/sandboxes/{name}/snapshots/{snap}/restore",
    summary: "Restore a snapshot. Settings, scenarios, faults and journal stay",
    params: SnapshotParams,
    kind: "restore",
    describeChange: ({ params: { snap } }) => ({
      title: `The snapshot ${snap} was restored.`,
      subject: snap,
    }),
    errors: ["unknown-snapshot"],
    success: { status: 200, schema: SandboxBody },
    handle({ params: { snap }, sandbox, site }) {
      sandbox.restore(requireSnapshot(sandbox, snap));
      pointWebhooksAtOwnReceivers(sandbox, site);
      return renderSandbox(sandbox, site);
    },
  }),
  operation({
    id: "snapshots.download",
    route: "GET /_control/sandboxes/{name}/snapshots/{snap}",
    summary: "Download a snapshot, including uploads. The name `now` means the current state",
    params: SnapshotParams,
    errors: ["unknown-snapshot"],
    success: { status: 200, schema: SnapshotFile },
    async handle({ params: { snap }, sandbox, server }) {
      const { blobs } = server.sandboxes;
      const { collections } = sandbox.api;
      if (snap !== NOW)
        return { name: snap, ...(await encodeSnapshot(requireSnapshot(sandbox, snap), collections, blobs)) };
      sandbox.world.catchUp();
      const value = sandbox.toValue();
      try {
        return { name: snap, ...(await encodeSnapshot(value, collections, blobs)) };
      } finally {
        blobs.release(value.blobs);
      }
    },
  }),
  operation({
    id: "snapshots.upload",
    route: "PUT /_control/sandboxes/{name}/snapshots/{snap}",
    summary: "Upload a snapshot of this or another sandbox",
    params: SnapshotParams,
    body: { kind: "json", schema: SnapshotFile, limit: MAX_UPLOAD_BYTES, validated: "by handler" },
    errors: ["limit-reached", "snapshot-too-new"],
    success: [
      { status: 201, schema: SnapshotBody },
      { status: 200, schema: SnapshotBody, description: "if it replaced one of the same name" },
    ],
    async handle({ params: { snap }, body, sandbox, server }) {
      requireName(snap);
      const value = await readSnapshot(sandbox, body);
      try {
        requireRoomForSnapshot(sandbox, snap);
        requireRoomForRecords(server, value.world.root);
        requireRoomForUploads(server, sandbox, { name: snap, value });
      } catch (error) {
        server.sandboxes.blobs.release(value.blobs);
        throw error;
      }
      const existed = sandbox.snapshots.has(snap);
      return new Reply(existed ? 200 : 201, renderSnapshot(snap, sandbox.saveSnapshot(snap, value)));
    },
  }),
  operation({
    id: "snapshots.delete",
    route: "DELETE /_control/sandboxes/{name}/snapshots/{snap}",
    summary: "Delete a snapshot",
    params: SnapshotParams,
    errors: ["unknown-snapshot"],
    success: { status: 204 },
    handle({ params: { snap }, sandbox }) {
      requireSnapshot(sandbox, snap);
      sandbox.snapshots.delete(snap);
    },
  }),
  operation({
    id: "snapshots.diff",
    route: "GET /_control/sandboxes/{name}/snapshots/{a}/diff/{b}",
    summary:
      "Compare two snapshots. The name `now` means the current state. If `b` is a snapshot of another sandbox, `of` names the sandbox",
    params: SnapshotPairParams,
    query: DifferenceQuery,
    errors: ["unknown-snapshot"],
    success: { status: 200, schema: DifferenceBody },
    async handle(call) {
      const { params, query, sandbox, server } = call;
      const other = query.of === undefined ? sandbox : await requireNamedSandbox(call, query.of, "of");
      if (!(other instanceof RemoteSandbox))
        return compareWorlds(sandbox.api, requireWorld(sandbox, params.a), requireWorld(other, params.b));
      const { world, blobs } = await readSnapshot(sandbox, await other.call("GET", `/snapshots/${params.b}`));
      server.sandboxes.blobs.release(blobs);
      return compareWorlds(sandbox.api, requireWorld(sandbox, params.a), world);
    },
  }),
];

function renderSnapshot(name: string, { taken_at, world }: SandboxValue): Static<typeof SnapshotBody> {
  return { name, taken_at: new Date(taken_at).toISOString(), records: sumRecords(world.root) };
}

/** @throws Problem 422 */
function requireName(name: string): void {
  if (!NAME.test(name) || name === NOW)
    throw unprocessable(
      "name",
      name,
      "must be 1 to 63 letters, digits, dots, hyphens and underscores, and not `now`, which names the current state",
    );
}

/** @throws Problem 409 if there are too many for another one */
function requireRoomForSnapshot({ snapshots }: Sandbox, name: string): void {
  if (snapshots.size >= MAX_SNAPSHOTS && !snapshots.has(name))
    throw conflict("limit-reached", `There are ${MAX_SNAPSHOTS} snapshots already`, "delete one first");
}

/** @throws Problem 404 */
function requireSnapshot(sandbox: Sandbox, name: string): SandboxValue {
  const value = sandbox.snapshots.get(name);
  if (value === undefined) throw unknownName("snapshot", name, sandbox.snapshots.keys());
  return value;
}

function requireWorld(sandbox: Sandbox, name: string): WorldValue {
  if (name !== NOW) return requireSnapshot(sandbox, name).world;
  sandbox.world.catchUp();
  return sandbox.world.toValue();
}
