import type { Answer } from "../engine/pipeline/plain-http.ts";
import type { Sandbox } from "../engine/sandbox/sandbox.ts";
import type { LoadedFixture, SandboxValue } from "../engine/sandbox/sandbox-value.ts";
import type { Root } from "../engine/state/tables.ts";
import type { Transaction } from "../engine/state/transaction.ts";
import type { World } from "../engine/state/world.ts";
import type { ControlServer, Limits } from "./operation.ts";
import { Problem } from "./problem.ts";

/** interfaces 7: in shared mode no user may take the server's whole memory. @throws Problem 409 */
export function requireRoom(server: ControlServer, limit: keyof Limits, wanted: number): void {
  const most = server.limits?.[limit];
  if (most !== undefined && wanted > most) throw limitReached({ limit, allowed: most, wanted });
}

/** @throws Problem 409 */
export function requireRoomForRecords(server: ControlServer, root: Root, more = 0): void {
  if (server.limits !== undefined) requireRoom(server, "records", countRecords(root) + more);
}

/** The same check before a world of millions of records is created, which would block all requests. @throws Problem 409 */
export function requireRoomForFixture(server: ControlServer, fixture: LoadedFixture): void {
  if (server.limits !== undefined) requireRoom(server, "records", fixture.leastRecords());
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
  const present = blobs.capture(sandbox);
  const others = [...sandbox.snapshots].filter(([other]) => other !== name).map(([, one]) => one.blobs);
  const wanted = blobs.countBytes([present, value.blobs, ...others]);
  blobs.release(present);
  requireRoom(server, "upload_bytes", wanted);
}

/**
 * The same check for the changes of a transaction, including audit entries; called at its end, so that a refusal undoes all of it.
 * @throws Problem 409
 */
export function requireRoomAfter(server: ControlServer, world: World, tx: Transaction): void {
  const most = server.limits?.records;
  const wanted = most === undefined ? undefined : countIfTooMany(most, world, tx);
  if (wanted !== undefined) requireRoom(server, "records", wanted);
}

/**
 * The refusal of a request to the emulated API that would leave its sandbox with too many records, by the count that
 * also limits control calls; undefined if the server has no limits. It is a 507 and not a 429 of the
 * service: waiting does not help, and clients must not confuse it with an answer of the service.
 */
export function createRecordLimit(
  limits: Limits | undefined,
): ((world: World, tx: Transaction) => Answer | undefined) | undefined {
  if (limits === undefined) return undefined;
  return (world, tx) => {
    const wanted = countIfTooMany(limits.records, world, tx);
    if (wanted === undefined) return undefined;
    return limitReached({ limit: "records", allowed: limits.records, wanted }, 507).toAnswer();
  };
}

/**
 * The number of records after the transaction, if it is too large and the transaction adds records (including
 * deliveries of its events). A transaction that only reads, changes or deletes passes, so that a user can make room.
 */
function countIfTooMany(most: number, { root }: World, tx: Transaction): number | undefined {
  const wanted = countRecords(tx.toRoot());
  if (wanted <= most) return undefined;
  return tx.emitted.length > 0 || wanted > countRecords(root) ? wanted : undefined;
}

/** Cheap: a sum over about thirty tables, which store their sizes. */
function countRecords({ tables }: Root): number {
  let sum = 0;
  for (const { collection, size } of tables.all()) {
    if (!collection.internal || collection.counted) sum += size;
  }
  return sum;
}

function limitReached(
  { limit, allowed, wanted }: { limit: keyof Limits; allowed: number; wanted: number },
  status?: number,
): Problem {
  return new Problem("limit-reached", {
    status,
    detail: `This would make ${wanted} ${WORDS[limit]}; ${allowed} are allowed. Delete what is no longer needed, or ask the server's operator to raise the limit.`,
    extension: { limit, allowed, wanted },
  });
}

const WORDS: Record<keyof Limits, string> = {
  sandboxes: "sandboxes",
  records: "records in one sandbox",
  upload_bytes: "bytes of uploads in one sandbox",
  rules: "rules in one sandbox",
  origins: "sandboxes with an origin of their own",
};
