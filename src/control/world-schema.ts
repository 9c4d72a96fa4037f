import Type, { type TSchema } from "typebox";
import type { SnapshotDocument } from "../engine/sandbox/snapshots.ts";

export const Whole = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
/** Milliseconds since 1970, in the years that a timestamp can name. */
export const Epoch = Type.Integer({ minimum: -62_135_596_800_000, maximum: 253_402_300_799_999 });
export const Records = Type.Array(Type.Object({}));
export const CLOSED = { additionalProperties: false };

/** `[api key id, counts]`; spelt out, because JSON Schema 2020-12 writes tuples differently from TypeBox. */
const Window = Type.Unsafe<SnapshotDocument["windows"][number]>({
  type: "array",
  minItems: 2,
  maxItems: 2,
  prefixItems: [
    Type.String(),
    Type.Object({ minute: Type.Integer(), requests: Whole, tokens: Whole }, CLOSED),
  ],
});
export const Windows = Type.Array(Window);

/** The fields of a world without its tables; with `wall` if it is saved between two starts. */
export function worldFields(clock: Record<string, TSchema> = {}) {
  return {
    seed: Whole,
    secret_key: Type.String({ minLength: 1, maxLength: 200 }),
    origin: Epoch,
    clock: Type.Object(
      {
        mode: Type.Enum(["real", "frozen", "scaled"]),
        now: Epoch,
        rate: Type.Number({ minimum: 0, maximum: 1_000_000 }),
        ...clock,
      },
      CLOSED,
    ),
    requests: Whole,
    draws: Whole,
  };
}
