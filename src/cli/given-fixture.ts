import type { FixtureInput } from "../client/types.ts";
import { isPath } from "../documents/files.ts";

/**
 * What `--fixture` says, for a server that reads no files for others (interfaces 4): a file is read here, with
 * everything it extends, and sent; a name is the server's to know.
 * @throws DocumentError
 */
export async function givenFixture(fixture: string | undefined): Promise<FixtureInput | undefined> {
  if (fixture === undefined || !isPath(fixture)) return fixture as FixtureInput | undefined;
  const [{ FixtureLibrary }, { RESOURCES }] = await Promise.all([
    import("../documents/fixture-library.ts"),
    import("../engine/resources/index.ts"),
  ]);
  return new FixtureLibrary({ resources: RESOURCES }).data(fixture);
}
