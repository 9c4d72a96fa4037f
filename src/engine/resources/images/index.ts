import type { Resource } from "../../contract/resource.ts";
import { uncropImage } from "./operations.ts";

export const imagesResource = {
  name: "images",
  collections: [],
  operations: [uncropImage],
} satisfies Resource;
