import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";

/** What V8 is asked and told. */
export interface Engine {
  getHeapSpaceStatistics(): readonly { readonly space_name: string; readonly space_size: number }[];
  setFlagsFromString(flags: string): void;
}

/** Bytes of V8's young generation, both its halves, from which on it should not grow. */
const LARGEST_BYTES = 16 * 1024 * 1024;
const LOOK_EVERY_MS = 250;
/** By how much V8 lets it grow at a time: 2 is what it does by itself. */
const GROWS = 2;
const STAYS = 1;

/**
 * Requests that arrive while the young generation is collected wait, and V8 of Node 24 lets it become four times as large as that
 * of Node 20: rarer collections, which take as long together, but longer each. Its largest size can be set before V8 runs alone;
 * how it grows can be set later. V8 makes it smaller where little happens, from where it may grow again.
 *
 * @param given what Node was started with: whoever sets a size (`--max-semi-space-size`) has it
 */
export function holdYoungGeneration(
  engine: Engine = { getHeapSpaceStatistics, setFlagsFromString },
  given = [...process.execArgv, process.env["NODE_OPTIONS"] ?? ""].join(" "),
): void {
  if (/semi[-_]space/.test(given)) return;
  let factor = GROWS;
  setInterval(() => {
    const next = bytesOf(engine) < LARGEST_BYTES ? GROWS : STAYS;
    if (next === factor) return;
    factor = next;
    engine.setFlagsFromString(`--semi-space-growth-factor=${factor}`);
  }, LOOK_EVERY_MS).unref();
}

function bytesOf(engine: Engine): number {
  const space = engine.getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space");
  return space?.space_size ?? 0;
}
