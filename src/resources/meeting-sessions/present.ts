import type { WorldReader } from "../../state/transaction.ts";
import type { MeetingLog } from "./schema.ts";

export function presentLog({ at, level, message }: MeetingLog, world: WorldReader) {
  return { at: world.iso(at), level, message };
}
