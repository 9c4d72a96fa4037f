import type { Static, TArray, TObject, TProperties, TSchema, TUnion } from "typebox";
import type { InstantSchema } from "../../contract/schema.ts";
import type { WorldCollection } from "../../resources/index.ts";

/** What state calls show where this schema stands in a stored record: instants as timestamps. */
type ShownValue<S> = S extends { "x-instant": true }
  ? S extends InstantSchema<infer T>
    ? string | Extract<T, null>
    : never
  : S extends TArray<infer Item>
    ? ShownValue<Item>[]
    : S extends TObject<infer Fields>
      ? ShownObject<Fields>
      : S extends TUnion<infer Alternatives>
        ? ShownValue<Alternatives[number]>
        : S extends TSchema
          ? Static<S>
          : never;

type Own = { "x-stored-only": true };
type Optional = { "~optional": true };

type ShownObject<P extends TProperties> = {
  [K in keyof P as P[K] extends Own | Optional ? never : K]: ShownValue<P[K]>;
} & {
  [K in keyof P as P[K] extends Own ? never : P[K] extends Optional ? K : never]?: ShownValue<P[K]>;
};

/** What begins with an underscore is the server's own; a name that no type knows would let any through. */
type Shown<C> = C extends { name: infer N }
  ? string extends N
    ? never
    : N extends `_${string}`
      ? never
      : C
  : never;

/** The records that state calls show, by collection. */
export type ShownRecords = {
  [C in Shown<WorldCollection> as C["name"]]: {
    [K in keyof ShownValue<C["schema"]>]: ShownValue<C["schema"]>[K];
  };
};
