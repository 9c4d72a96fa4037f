import { readFileSync } from "node:fs";
import { createEngine } from "../../src/client/create-engine.ts";

/** The paths of the requests in an exported sandbox, oldest first, as another process shows them. */
export async function readWorld(file: string): Promise<string[]> {
  const engine = createEngine({});
  const sandbox = await engine.openFile(readFileSync(file), "attached");
  const { entries } = await sandbox.journal.list();
  await engine.close();
  return entries.map(({ path }) => path).reverse();
}
