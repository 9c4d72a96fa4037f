import { renameSync, writeFileSync } from "node:fs";

export interface Ready {
  url: string;
  console: string;
  pid: number;
  /** Null where no control token is needed. */
  token: string | null;
}

/** Renamed into place, so that a script that waits for the file never reads half of it. */
export function writeReadyFile(file: string, ready: Ready): void {
  const draft = `${file}.${process.pid}.tmp`;
  writeFileSync(draft, `${JSON.stringify(ready)}\n`, { mode: 0o600 });
  renameSync(draft, file);
}
