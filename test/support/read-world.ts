import { readFileSync } from "node:fs";
import { createLocal } from "../../src/client/local-understudy.ts";

/** Lists the paths of the requests in an exported sandbox, oldest first, as another process shows them. */
export async function readWorld(file: string): Promise<string[]> {
  const engine = await createLocal({});
  const sandbox = await engine.openFile(readFileSync(file), "attached");
  const { entries } = await sandbox.journal.list();
  await engine.close();
  return entries.map(({ path }) => path).reverse();
}
