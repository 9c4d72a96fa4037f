import { invalidInput } from "../../contract/errors.ts";

/** Where the bytes of one PUT belong: from `start` up to `end` (exclusive) at most; a probe brings none. */
export type Placement = { kind: "probe" } | { kind: "bytes"; start: number; end: number };

const PROBE = /^bytes \*\/(\*|\d+)$/;
const RANGE = /^bytes (\d{1,15})-(\d{1,15}|\*)\/(\d{1,15}|\*)$/;

/**
 * Reads a Content-Range as Google Cloud Storage's resumable protocol uses it: absent for the whole file,
 * `bytes a-b/N`, `bytes a-b/*`, an open end as the official client sends it, or a probe. Chunks of any size are
 * taken; the real storage asks for multiples of 256 KiB.
 * @throws ApiError INVALID_INPUT for what does not fit the file that was announced
 */
export function placementOf(
  headers: Readonly<Record<string, string | undefined>>,
  file_size: number,
): Placement {
  const text = headers["content-range"];
  const length = headers["content-length"] === undefined ? undefined : Number(headers["content-length"]);
  if (text === undefined) return placed({ start: 0, end: file_size, length, file_size });
  const probe = PROBE.exec(text);
  const match = RANGE.exec(text);
  const total = probe?.[1] ?? match?.[3];
  if (total === undefined) throw badRange(text, "is not a range of the resumable protocol");
  if (total !== "*" && Number(total) !== file_size) {
    throw badRange(text, `names a total of ${total} bytes; ${file_size} were announced`);
  }
  if (match === null) return { kind: "probe" };
  const [, first, last] = match as unknown as [string, string, string];
  const start = Number(first);
  if (last === "*") return placed({ start, end: file_size, length, file_size, text });
  const end = Number(last) + 1;
  if (end <= start) throw badRange(text, "ends before it begins");
  if (length !== undefined && length !== end - start) {
    throw badRange(text, `covers ${end - start} bytes, but the body has ${length}`);
  }
  return placed({ start, end, length, file_size, text });
}

function placed(place: {
  start: number;
  end: number;
  length: number | undefined;
  file_size: number;
  text?: string;
}): Placement {
  const { start, end, length, file_size, text } = place;
  if (end > file_size || start + (length ?? 0) > file_size) throw tooMuch(text, file_size);
  return { kind: "bytes", start, end };
}

/** More bytes than announced; found out beforehand or, for a body without a length, on the way. */
export function tooMuch(text: string | undefined, file_size: number): Error {
  return text === undefined
    ? invalidInput("file_size", file_size, `the body is longer than the ${file_size} bytes announced`)
    : badRange(text, `goes beyond the ${file_size} bytes announced`);
}

function badRange(text: string, problem: string): Error {
  return invalidInput("Content-Range", text, `Content-Range ${problem}`);
}
