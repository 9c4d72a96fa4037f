import { toBase64 } from "./bytes.ts";

/** Castagnoli's polynomial, with its bits in reverse order. */
const POLYNOMIAL = 0x82f63b78;
const LANES = 8;

type Table = Int32Array;

/** Tables for eight bytes at a time; a byte at a time would cost more than writing them to disk. */
const TABLES = makeTables();

function makeTables(): Table[] {
  const tables = Array.from({ length: LANES }, () => new Int32Array(256));
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1;
    tables[0]![byte] = crc;
  }
  for (let lane = 1; lane < LANES; lane++) {
    for (let byte = 0; byte < 256; byte++) {
      const before = tables[lane - 1]![byte]!;
      tables[lane]![byte] = (before >>> 8) ^ tables[0]![before & 255]!;
    }
  }
  return tables;
}

/** Continues the checksum `previous` (0 at the start) with `bytes`. Google Cloud Storage reports it of an object. */
export function crc32c(bytes: Uint8Array, previous = 0): number {
  const [t0, t1, t2, t3, t4, t5, t6, t7] = TABLES as [Table, Table, Table, Table, Table, Table, Table, Table];
  let crc = ~previous;
  let i = 0;
  for (const end = bytes.length - 7; i < end; i += LANES) {
    crc ^= bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16) | (bytes[i + 3]! << 24);
    crc =
      t7[crc & 255]! ^
      t6[(crc >>> 8) & 255]! ^
      t5[(crc >>> 16) & 255]! ^
      t4[crc >>> 24]! ^
      t3[bytes[i + 4]!]! ^
      t2[bytes[i + 5]!]! ^
      t1[bytes[i + 6]!]! ^
      t0[bytes[i + 7]!]!;
  }
  for (; i < bytes.length; i++) crc = (crc >>> 8) ^ t0[(crc ^ bytes[i]!) & 255]!;
  return ~crc >>> 0;
}

/** Writes the checksum as Google Cloud Storage does: the big-endian bytes in base64. */
export function formatCrc32c(crc: number): string {
  return toBase64(Uint8Array.of(crc >>> 24, crc >>> 16, crc >>> 8, crc));
}
