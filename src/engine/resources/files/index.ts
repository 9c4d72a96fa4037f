import { fixtureRecord, listOf } from "../../contract/fixture-record.ts";
import type { Resource } from "../../contract/resource.ts";
import { makeFile } from "./make.ts";
import { createUploadUrl, registerFile, uploadFile } from "./operations.ts";
import { expireUpload } from "./rules.ts";
import { FileObject, files, fileTexts, uploads } from "./schema.ts";
import { fileRules } from "./state.ts";
import { cancelUpload, putUpload } from "./upload-operations.ts";

export const filesResource = {
  name: "files",
  collections: [files, uploads, fileTexts],
  operations: [createUploadUrl, registerFile, uploadFile, putUpload, cancelUpload],
  factories: { files: makeFile },
  fixture: listOf(files, {
    record: fixtureRecord(FileObject, { needs: ["id"], omit: ["object", "status", "gcs_path"] }),
    factory: makeFile,
  }),
  state: { files: fileRules },
  timers: { expiry: expireUpload },
} satisfies Resource;
