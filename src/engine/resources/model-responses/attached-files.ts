import { resourceNotFound } from "../../contract/errors.ts";
import type { Principal } from "../../contract/operation.ts";
import type { Transaction } from "../../state/transaction.ts";
import { files } from "../files/schema.ts";
import { isMember } from "../organizations/access.ts";

/**
 * G20 and G02: a file that does not exist, or belongs to an organization of which the caller is no member.
 * @throws ApiError RESOURCE_NOT_FOUND with the first such `file_id`
 */
export function requireFiles(
  { principal, world }: { principal: Principal; world: Transaction },
  file_ids: readonly string[],
): void {
  for (const file_id of file_ids) {
    const file = world.get(files, file_id);
    if (file === undefined || !isMember({ principal, world }, file.organization_id))
      throw resourceNotFound("file_id", file_id);
  }
}
