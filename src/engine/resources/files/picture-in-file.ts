import { Random } from "../../state/random.ts";
import type { Transaction } from "../../state/transaction.ts";
import { effectiveType } from "./file-type.ts";
import { type FileObject, fileTexts, type Picture } from "./schema.ts";

const SIZES = [
  [1920, 1080],
  [1280, 960],
  [1024, 1024],
  [1080, 1350],
  [640, 480],
] as const;
const COLOURS = ["blue", "green", "grey", "white", "brown", "orange", "red", "yellow"];

export function isPicture(file: FileObject): boolean {
  return effectiveType(file).startsWith("image/");
}

/** What can be seen of a picture (G35); of one that nobody uploaded, what the seed says. */
export function pictureOf(file: FileObject, world: Transaction): Picture | undefined {
  const examined = world.get(fileTexts, file.id);
  if (examined !== undefined) return examined.picture;
  const random = new Random(world.seed, "picture", file.id);
  const [width, height] = random.pick(SIZES);
  const format = effectiveType(file).replace(/^image\/(?:x-)?|\+xml$/g, "");
  return { format, width, height, colours: random.sample(COLOURS, 3) };
}
