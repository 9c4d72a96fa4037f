import type { Resource } from "../../contract/resource.ts";
import { uncropImage } from "./operations.ts";

export const imagesResource: Resource = {
  name: "images",
  collections: [],
  operations: [uncropImage],
};
