import { Type } from "typebox";
import type { Api } from "../engine/contract/api.ts";
import { ClosedObject, MapOf } from "../engine/contract/schema.ts";
import { findNearest } from "../engine/contract/text.ts";
import type { Sandbox } from "../engine/sandbox/sandbox.ts";
import type { SandboxValue } from "../engine/sandbox/sandbox-value.ts";
import {
  decodeSnapshot,
  SNAPSHOT_FORMAT,
  SNAPSHOT_VERSION,
  type SnapshotDocument,
  UploadsDocument,
} from "../engine/sandbox/snapshots.ts";
import { WorldDocumentError } from "../engine/state/world-document.ts";
import { checkInput } from "./check-input.ts";
import { Problem, unprocessable } from "./problem.ts";
import { listStateCollections } from "./state/state-collection.ts";
import { createWorldFields, Epoch, RateWindows, Records, validateWorld } from "./validate-world.ts";

/** A snapshot as a file (interfaces.md 4). */
export const SnapshotFile = Type.Unsafe<SnapshotDocument & { name?: string }>(
  ClosedObject(
    {
      format: Type.Literal(SNAPSHOT_FORMAT),
      version: Type.Literal(SNAPSHOT_VERSION),
      name: Type.Optional(Type.String()),
      taken_at: Epoch,
      world: ClosedObject({
        ...createWorldFields(),
        tables: MapOf(ClosedObject({ records: Records })),
      }),
      windows: RateWindows,
      blobs: Type.Optional(UploadsDocument),
    },
    {
      $id: "SnapshotFile",
      description: "A self-contained snapshot",
      examples: [
        {
          format: SNAPSHOT_FORMAT,
          version: SNAPSHOT_VERSION,
          name: "before",
          taken_at: 1773576000000,
          world: {
            seed: 1,
            secret_key: "6f1d0c",
            origin: 1773576000000,
            clock: { mode: "frozen", now: 1773576000000, rate: 0 },
            requests: 0,
            draws: 0,
            tables: {},
          },
          windows: [],
        },
      ],
    },
  ),
);

/**
 * Converts an uploaded snapshot to a value that can be restored. Each record is validated as in state calls: an invalid one
 * would break the emulated API later.
 * @throws Problem 422, or the system's error if the bytes of uploads cannot be written
 */
export async function readSnapshot(
  { api, blobs: blobStore }: Sandbox,
  document: unknown,
): Promise<SandboxValue> {
  requireKnownFormat(document as Record<string, unknown>);
  checkInput(SnapshotFile, document);
  const decoding = decodeSnapshot(document as SnapshotDocument, api.collections, blobStore);
  const value = await decoding.catch((error: unknown) => {
    throw error instanceof WorldDocumentError ? toProblem(error, api) : error;
  });
  try {
    validateWorld(api.resources, value.world);
    return value;
  } catch (error) {
    blobStore.release(value.blobs);
    throw error;
  }
}

function toProblem(
  { field, message, unknownCollection: name }: WorldDocumentError,
  { resources }: Pick<Api, "resources">,
): Problem {
  const hint = name === undefined ? undefined : findNearest(name, listStateCollections(resources).keys());
  // The error names the place of a value, but does not contain it.
  return unprocessable(`world.${field}`, null, message, hint);
}

function requireKnownFormat({ format, version }: Record<string, unknown>): void {
  if (format !== SNAPSHOT_FORMAT) {
    throw unprocessable("format", format, `must be "${SNAPSHOT_FORMAT}": this is not a downloaded snapshot`);
  }
  if (typeof version === "number" && version > SNAPSHOT_VERSION) {
    throw new Problem("snapshot-too-new", {
      detail: `The snapshot has format version ${version}, and this Understudy reads up to version ${SNAPSHOT_VERSION}: it was written by a newer release. Update Understudy, or save the snapshot again with the release that runs here.`,
      field: "version",
      value: version,
    });
  }
}
