import { BUCKET } from "./schema.ts";

const MAX_NAME_IN_PATH = 100;

/** `gs://uploads/org_acme/<random>/<name>`; what a client called the file only decorates it. */
export function storagePath(organization_id: string, unique: string, filename: string): string {
  const name = filename.replaceAll(/[^A-Za-z0-9._-]+/g, "_").slice(-MAX_NAME_IN_PATH);
  return `gs://${BUCKET}/${organization_id}/${unique}/${name}`;
}
