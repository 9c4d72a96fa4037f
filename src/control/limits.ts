import type { Root } from "../state/root.ts";
import type { ControlServer, Limits } from "./operation.ts";
import { Problem } from "./problem.ts";
import { recordsOf } from "./sandbox-body.ts";

/** interfaces 7: in shared mode nobody may take the server's whole memory. @throws Problem 409 */
export function requireRoom(server: ControlServer, limit: keyof Limits, wanted: number): void {
  const most = server.limits?.[limit];
  if (most === undefined || wanted <= most) return;
  throw new Problem(409, {
    kind: "limit-reached",
    title: "A limit of this shared server is reached",
    detail: `This would make ${wanted} ${WORDS[limit]}; ${most} are allowed. Delete what is no longer needed, or ask whoever runs the server to raise the limit.`,
    extension: { limit, allowed: most, wanted },
  });
}

/** @throws Problem 409 */
export function requireRoomForRecords(server: ControlServer, root: Root, more = 0): void {
  if (server.limits !== undefined) requireRoom(server, "records", recordsOf(root) + more);
}

const WORDS: Record<keyof Limits, string> = {
  sandboxes: "sandboxes",
  records: "records in one sandbox",
  upload_bytes: "bytes of uploads in one sandbox",
  rules: "rules in one sandbox",
};
