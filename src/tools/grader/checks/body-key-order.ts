import type { Payload } from "../delivery.ts";
import { rawBodyCheck } from "../raw-body-check.ts";

export const bodyKeyOrder = rawBodyCheck({
  id: "body-key-order",
  title: "Accepts any order of keys",
  severity: "critical",
  why: "JSON objects have no order; a receiver that sorts or rebuilds them before verifying refuses genuine deliveries.",
  shapes: [
    { label: "keys reversed", shape: { write: (payload) => JSON.stringify(reversed(payload)) } },
    { label: "keys of the data reversed", shape: { write: withDataReversed } },
  ],
});

function reversed(object: object): object {
  return Object.fromEntries(Object.entries(object).reverse());
}

function withDataReversed(payload: Payload): string {
  return JSON.stringify({ ...payload, data: reversed(payload.data) });
}
