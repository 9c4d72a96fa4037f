import { event, randomId, recordsOf } from "../../contract/event.ts";
import { files } from "./schema.ts";

/** What events of files have in common. */
export const fileEvent = {
  section: "6.1",
  assumptions: ["G25"],
  about: recordsOf(files, {
    id: "file_id",
    samples: {
      filename: (random) => random.pick(["report.pdf", "notes.md", "minutes.txt"]),
      mime_type: () => "application/pdf",
      file_size: (random) => random.int(1_000, 900_000),
      gcs_path: (random) => `gs://uploads/${random.letters(16)}`,
      created_by: randomId("usr_"),
    },
  }),
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

export const fileUploaded = event({ ...fileEvent, name: "file.uploaded", summary: "A file was uploaded" });

export const fileDeleted = event({ ...fileEvent, name: "file.deleted", summary: "A file was deleted" });

export const FILE_EVENTS = [fileUploaded, fileDeleted] as const;
