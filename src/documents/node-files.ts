import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

/* The file system and paths, for this folder. Builds for a browser have `web-files.ts` in its place. */

export { existsSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
export { basename, dirname, extname, isAbsolute, join, relative, resolve } from "node:path";

/** A folder within the package. */
export const STARTING_FOLDER = dirname(fileURLToPath(import.meta.url));
