import { concatBytes } from "../../bytes.ts";
import type { WireEffect } from "./effect.ts";

/** Begins unlike HTTP, so that no client accepts it as an answer. */
const NOISE = Uint8Array.of(0x16, 0x03, 0x01, 0xff, 0x00, 0x0d, 0x0a, 0xfe, 0x3f, 0x0d, 0x0a, 0x0d, 0x0a);

/** Sends invalid HTTP: noise, with the body in the middle of it. */
export const garbageWire = {
  name: "garbage",
  shows_status: false,
  async perform(wire) {
    await wire.drain();
    await wire.finish(concatBytes([NOISE, wire.body, NOISE]));
  },
  delivery: { getDelay: () => 0, failure: "the answer is not HTTP" },
} as const satisfies WireEffect;
