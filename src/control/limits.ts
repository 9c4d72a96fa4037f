import type { Answer } from "../engine/pipeline/plain-http.ts";
import type { Sandbox } from "../engine/sandbox/sandbox.ts";
import type { LoadedFixture, SandboxValue } from "../engine/sandbox/sandbox-value.ts";
import type { Root } from "../engine/state/tables.ts";
import type { Transaction } from "../engine/state/transaction.ts";
import type { World } from "../engine/state/world.ts";
import type { ControlServer, Limits } from "./operation.ts";
import { Problem } from "./problem.ts";

/** Refuses what is over a limit of shared mode (interfaces.md 7). @throws Problem 409 */
export function requireRoom(
  server: ControlServer,
  limit: keyof Limits,
  count: number,
  unit = UNITS[limit],
): void {
  const allowed = server.limits?.[limit];
  if (allowed !== undefined && count > allowed)
    throw createLimitProblem({ limit, allowed, wanted: count, unit });
}

/** @throws Problem 409 */
export function requireRoomForRecords(server: ControlServer, root: Root, added = 0): void {
  requireRoom(server, "records", countLimitedRecords(root) + added);
}

/** The same check before a world is created: creating millions of records blocks all requests. @throws Problem 409 */
export function requireRoomForFixture(server: ControlServer, fixture: LoadedFixture): void {
  if (server.limits !== undefined) requireRoom(server, "records", fixture.getMinimumRecordCount());
}

/**
 * An uploaded snapshot can contain half-finished uploads: together with those of the current state and of other
 * snapshots they must fit into the sandbox's share of the disk.
 * @throws Problem 409
 */
export function requireRoomForUploads(
  server: ControlServer,
  sandbox: Sandbox,
  { name, value }: { name: string; value: SandboxValue },
): void {
  const { blobs } = server.sandboxes;
  if (server.limits === undefined || value.blobs === undefined) return;
  const currentBlobs = blobs.capture(sandbox);
  const others = [...sandbox.snapshots].filter(([other]) => other !== name).map(([, one]) => one.blobs);
  const bytes = blobs.countBytes([currentBlobs, value.blobs, ...others]);
  blobs.release(currentBlobs);
  requireRoom(server, "upload_bytes", bytes);
}

/**
 * Checks the number of records after the changes of a transaction, including audit entries. Called at its end, so that
 * a refusal undoes the whole transaction.
 * @throws Problem 409
 */
export function requireRoomAfter(server: ControlServer, world: World, tx: Transaction): void {
  const allowed = server.limits?.records;
  const newCount = allowed === undefined ? undefined : countIfTooMany(allowed, world, tx);
  if (newCount !== undefined) requireRoom(server, "records", newCount);
}

/**
 * Creates a check of requests to the emulated API: it returns the refusal of one that would leave too many records in
 * its sandbox, counted as for control calls. Undefined if the server has no limits. The refusal is a 507 and not
 * a 429 of the service: waiting does not help, and clients must not confuse it with an answer of the service.
 */
export function createRecordLimit(
  limits: Limits | undefined,
): ((world: World, tx: Transaction) => Answer | undefined) | undefined {
  if (limits === undefined) return undefined;
  return (world, tx) => {
    const newCount = countIfTooMany(limits.records, world, tx);
    if (newCount === undefined) return undefined;
    return createLimitProblem(
      { limit: "records", allowed: limits.records, wanted: newCount, unit: UNITS.records },
      507,
    ).toAnswer();
  };
}

/**
 * The number of records after the transaction, if it is too large and the transaction adds records (including
 * deliveries of its events). A transaction that adds no record and emits no event passes, so that a user can make room.
 */
function countIfTooMany(allowed: number, { root }: World, tx: Transaction): number | undefined {
  const count = countLimitedRecords(tx.toRoot());
  if (count <= allowed) return undefined;
  return tx.events.length > 0 || count > countLimitedRecords(root) ? count : undefined;
}

/** Sums the sizes that the tables store, which is cheap. */
function countLimitedRecords({ tables }: Root): number {
  let sum = 0;
  for (const { collection, size } of tables.all()) {
    if (!collection.internal || collection.countsTowardLimit) sum += size;
  }
  return sum;
}

interface LimitExcess {
  limit: keyof Limits;
  allowed: number;
  wanted: number;
  unit: string;
}

function createLimitProblem({ limit, allowed, wanted, unit }: LimitExcess, status?: number): Problem {
  return new Problem("limit-reached", {
    status,
    detail: `This would make ${wanted} ${unit}; ${allowed} are allowed. Delete what is no longer needed, or ask the server's operator to raise the limit.`,
    extension: { limit, allowed, wanted },
  });
}

const UNITS: Record<keyof Limits, string> = {
  sandboxes: "sandboxes",
  records: "records in one sandbox",
  upload_bytes: "bytes of uploads in one sandbox",
  rules: "rules in one sandbox",
  origins: "sandboxes with an origin of their own",
};
