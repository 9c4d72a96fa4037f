import type { Payload } from "../delivery.ts";
import { rawBodyCheck } from "../raw-body-check.ts";

export const bodyUnicodeEscapes = rawBodyCheck({
  id: "body-unicode-escapes",
  title: "Accepts unicode escapes and other spellings of the same value",
  severity: "critical",
  why: "é and \\u00e9, / and \\/, 1 and 1.0 are the same JSON value in different bytes; only the bytes are signed.",
  shapes: [
    {
      label: "escapes",
      shape: { event: "user.updated", data: { name: "Ad\u00e0 \u6f22 \u{1f600} & <b> n/a" }, write: escaped },
    },
    {
      label: "numbers as 1000.0 and 8e2",
      shape: {
        event: "usage.threshold",
        data: { monthly_limit: 1000, current_usage: 800 },
        write: (payload) =>
          JSON.stringify(payload)
            .replace('"monthly_limit":1000', '"monthly_limit":1000.0')
            .replace('"current_usage":800', '"current_usage":8e2'),
      },
    },
  ],
});

function escaped(payload: Payload): string {
  const unicode = (one: string) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(payload)
    .replaceAll("/", "\\/")
    .replaceAll(/[\u0080-\uffff&<>@]/g, unicode);
}
