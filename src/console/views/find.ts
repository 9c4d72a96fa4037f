import { find as findOperations } from "./api/find.ts";
import { find as findSandboxes } from "./sandboxes/find.ts";
import { find as findEntries } from "./timeline/find.ts";
import type { FindCommands } from "./view.ts";
import { find as findRecords } from "./world/find.ts";

/** What the palette asks besides the names of the views; loaded with it. */
export const FINDERS: readonly FindCommands[] = [findRecords, findOperations, findEntries, findSandboxes];
