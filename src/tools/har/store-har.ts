import {
  createReadStream,
  createWriteStream,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, posix } from "node:path";
import { pipeline } from "node:stream/promises";
import { inflateRawSync } from "node:zlib";
import { InputError } from "../input.ts";

const MAX_UNPACKED_BYTES = 1024 ** 3;

/** A recording that can be read more than once. `remove` deletes temporary files. */
interface StoredHar {
  har: string;
  remove: () => void;
}

/** Unpacks a ZIP, and stores what comes from a pipe, such as `/dev/stdin`. @throws as `unpackHar` */
export async function storeHar(file: string): Promise<StoredHar> {
  const isZip = /\.zip$/i.test(file);
  if (!isZip && !statSync(file).isFIFO()) return { har: file, remove: () => {} };
  const folder = mkdtempSync(join(tmpdir(), isZip ? "understudy-har-" : "understudy-pipe-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    return { har: isZip ? unpackHar(file, folder) : await storePiped(file, folder), remove };
  } catch (error) {
    remove();
    throw error;
  }
}

async function storePiped(file: string, folder: string): Promise<string> {
  const har = join(folder, "piped.har");
  await pipeline(createReadStream(file), createWriteStream(har, { mode: 0o600 }));
  return har;
}

/**
 * Unpacks a recording: Playwright writes a ZIP, with a file for each body beside `har.har`, if the path ends with `.zip`.
 * @throws InputError if it cannot be unpacked; the system's error if the file cannot be read
 */
function unpackHar(file: string, folder: string): string {
  const zip = readFileSync(file);
  try {
    const files = unpack(zip);
    // macOS adds files whose names begin with a dot.
    const [har, ...others] = files.filter(({ name }) => /(^|\/)[^./][^/]*\.har$/i.test(name));
    if (har === undefined) throw new Error("it has no .har file");
    if (others.length > 0) throw new Error(`it has ${others.length + 1} .har files`);
    const folderInZip = posix.dirname(har.name);
    for (const { name, bytes } of files) {
      // Only a file name: an archive must not name files of other folders.
      const isBody = posix.dirname(name) === folderInZip && /^[\w-][\w.-]*$/.test(posix.basename(name));
      if (isBody) writeFileSync(join(folder, posix.basename(name)), bytes, { mode: 0o600 });
    }
    const path = join(folder, posix.basename(har.name).replaceAll(/[^\w.-]/g, "_"));
    writeFileSync(path, har.bytes, { mode: 0o600 });
    return path;
  } catch (error) {
    const why = (error as Error).message;
    throw new InputError(
      `${file} cannot be unpacked (${why}); unpack it yourself, and give the .har file in it`,
    );
  }
}

/** Offsets are those of PKWARE's APPNOTE 4.3. */
function unpack(zip: Buffer): { name: string; bytes: Buffer }[] {
  const readShort = (position: number) => zip.readUInt16LE(position);
  const readLong = (position: number) => zip.readUInt32LE(position);
  const end = zip.lastIndexOf("PK\x05\x06", undefined, "latin1");
  if (end < 0) throw new Error("it is cut short");
  let remainingBytes = MAX_UNPACKED_BYTES;
  let position = readLong(end + 16);
  return Array.from({ length: readShort(end + 10) }, () => {
    if (zip.toString("latin1", position, position + 4) !== "PK\x01\x02")
      throw new Error("its directory is damaged");
    const isEncrypted = (readShort(position + 8) & 1) === 1;
    const method = readShort(position + 10);
    const size = readLong(position + 20);
    const localOffset = readLong(position + 42);
    const nameEnd = position + 46 + readShort(position + 28);
    if (isEncrypted || (method !== 0 && method !== 8))
      throw new Error("it is encrypted, or packed in another way");
    const start = localOffset + 30 + readShort(localOffset + 26) + readShort(localOffset + 28);
    const packed = zip.subarray(start, start + size);
    const bytes = method === 8 ? inflateRawSync(packed, { maxOutputLength: remainingBytes }) : packed;
    remainingBytes -= bytes.length;
    const name = zip.toString("utf8", position + 46, nameEnd);
    position = nameEnd + readShort(position + 30) + readShort(position + 32);
    return { name, bytes };
  });
}
