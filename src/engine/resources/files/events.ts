import { aboutRecords, event } from "../../contract/event.ts";
import { makeFile } from "./fixtures.ts";
import { files } from "./schema.ts";

/** The common parts of events about files. */
export const fileEvent = {
  section: "6.1",
  assumptions: ["G25"],
  about: aboutRecords(files, { id: "file_id", invent: makeFile }),
  data: [
    "file_id",
    "object",
    "filename",
    "mime_type",
    "file_size",
    "organization_id",
    "status",
    "gcs_path",
    "created_at",
    "created_by",
  ],
} as const;

export const fileUploaded = event({
  ...fileEvent,
  name: "file.uploaded",
  summary: "A file was uploaded",
  fresh: true,
});

export const fileDeleted = event({ ...fileEvent, name: "file.deleted", summary: "A file was deleted" });

export const FILE_EVENTS = [fileUploaded, fileDeleted] as const;
