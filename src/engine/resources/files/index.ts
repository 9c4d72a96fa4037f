import type { Resource } from "../../contract/resource.ts";
import { filesFixture, makeFile } from "./fixtures.ts";
import { createUploadUrl, registerFile, uploadFile } from "./operations.ts";
import { expireUpload, fileState } from "./rules.ts";
import { files, fileTexts, uploads } from "./schema.ts";
import { cancelUpload, putUpload } from "./uploads.ts";

export const filesResource = {
  name: "files",
  collections: [files, uploads, fileTexts],
  operations: [createUploadUrl, registerFile, uploadFile, putUpload, cancelUpload],
  factories: { files: makeFile },
  fixture: filesFixture,
  state: { files: fileState },
  timers: { expiry: expireUpload },
} satisfies Resource;
