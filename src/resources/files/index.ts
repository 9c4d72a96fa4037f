import type { Resource } from "../../contract/resource.ts";
import { createUploadUrl, registerFile, uploadFile } from "./operations.ts";
import { expireUpload } from "./rules.ts";
import { files, fileTexts, uploads } from "./schema.ts";
import { filesFixture } from "./seed.ts";
import { fileRules } from "./state.ts";
import { cancelUpload, putUpload } from "./upload-operations.ts";

export const filesResource: Resource = {
  name: "files",
  collections: [files, uploads, fileTexts],
  operations: [createUploadUrl, registerFile, uploadFile, putUpload, cancelUpload],
  fixture: filesFixture,
  state: { files: fileRules },
  timers: { expiry: expireUpload },
};
