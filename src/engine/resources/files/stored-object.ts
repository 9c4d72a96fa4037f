import Type from "typebox";
import { Timestamp, Words } from "../../contract/schema.ts";
import type { WorldReader } from "../../state/transaction.ts";
import { BUCKET, type Upload } from "./schema.ts";

/**
 * What Google Cloud Storage answers once an object is whole; its official client parses this and
 * compares the checksum with its own.
 */
export const StoredObject = Type.Object(
  {
    kind: Words(["storage#object"]),
    id: Type.String(),
    name: Type.String(),
    bucket: Type.String(),
    generation: Type.String(),
    metageneration: Type.String(),
    contentType: Type.String(),
    storageClass: Type.String(),
    size: Type.String({ description: "Bytes, as text" }),
    crc32c: Type.String(),
    timeCreated: Timestamp(),
    updated: Timestamp(),
  },
  { $id: "StoredObject" },
);

/** For an upload that is complete. */
export function presentObject(upload: Upload, world: WorldReader) {
  const name = upload.gcs_path.slice(`gs://${BUCKET}/`.length);
  const at = upload.completed_at ?? upload.created_at;
  // The real storage counts generations in microseconds.
  const generation = String(world.absolute(at) * 1000);
  return {
    kind: "storage#object" as const,
    id: `${BUCKET}/${name}/${generation}`,
    name,
    bucket: BUCKET,
    generation,
    metageneration: "1",
    contentType: upload.mime_type,
    storageClass: "STANDARD",
    size: String(upload.file_size),
    crc32c: upload.crc32c ?? "AAAAAA==",
    timeCreated: world.iso(at),
    updated: world.iso(at),
  };
}
