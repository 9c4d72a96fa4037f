import { expect, it } from "vitest";
import { decodeText } from "./decode-text.ts";

const decode = (bytes: Buffer, { mime_type = "text/plain", isWhole = true } = {}) =>
  decodeText(bytes, { mime_type, isWhole });

it("G34 text is UTF-8, or what its mark or its charset says", () => {
  expect(decode(Buffer.from("Grüezi"))).toBe("Grüezi");
  expect(decode(Buffer.from("\ufeffGrüezi", "utf16le"))).toBe("Grüezi");
  const latin = Buffer.from("Grüezi", "latin1");
  expect(decode(latin)).toBeUndefined();
  expect(decode(latin, { mime_type: 'text/plain; charset="ISO-8859-1"' })).toBe("Grüezi");
  expect(decode(latin, { mime_type: "text/plain; charset=none-such" })).toBeUndefined();
});

it("G34 a part of a text may end within a character, a whole one may not", () => {
  const cut = Buffer.from("Grü").subarray(0, 3);
  expect(decode(cut, { isWhole: false })).toBe("Gr");
  expect(decode(cut)).toBeUndefined();
});
