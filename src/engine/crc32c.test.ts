import { describe, expect, it } from "vitest";
import { crc32c, formatCrc32c } from "./crc32c.ts";

describe("crc32c", () => {
  it("gives the check value of the polynomial's catalogue entry [4.6]", () => {
    expect(crc32c(Buffer.from("123456789"))).toBe(0xe3069283);
    expect(formatCrc32c(crc32c(Buffer.from("123456789")))).toBe("4waSgw==");
  });

  it("gives the same over any cut of the bytes [4.6]", () => {
    const bytes = Buffer.from(Array.from({ length: 1000 }, (_, i) => (i * 7919) & 255));
    const whole = crc32c(bytes);
    for (const cut of [0, 1, 7, 8, 9, 500, 999, 1000]) {
      expect(crc32c(bytes.subarray(cut), crc32c(bytes.subarray(0, cut)))).toBe(whole);
    }
  });

  it("gives the vectors of RFC 3720 [4.6]", () => {
    expect(crc32c(Buffer.alloc(32))).toBe(0x8a9136aa);
    expect(crc32c(Buffer.alloc(32, 0xff))).toBe(0x62a8ab43);
    expect(crc32c(Buffer.from(Array.from({ length: 32 }, (_, i) => i)))).toBe(0x46dd794e);
  });
});
