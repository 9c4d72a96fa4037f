import { useState } from "react";
import { call } from "./call.js";

const CHUNK_BYTES = 256 * 1024;

/** Sends a file in chunks, so that the progress is known and a broken upload can go on. */
export function Uploads() {
  const [progress, setProgress] = useState();
  const [outcome, setOutcome] = useState("");
  const send = async (form) => {
    const file = form.get("file");
    const about = { filename: file.name, file_size: file.size, mime_type: file.type || "text/plain" };
    const files = "/v1/organizations/org_acme/files";
    const { upload_url, gcs_path } = await call("POST", `${files}/upload-url`, about);
    for (let from = 0; from < file.size; from += CHUNK_BYTES) {
      const chunk = file.slice(from, from + CHUNK_BYTES);
      const range = `bytes ${from}-${from + chunk.size - 1}/${file.size}`;
      const answer = await fetch(upload_url, {
        method: "PUT",
        headers: { "content-range": range },
        body: chunk,
      });
      if (answer.status !== 308 && !answer.ok)
        throw new Error(`the upload was refused with ${answer.status}`);
      setProgress((from + chunk.size) / file.size);
    }
    const { id } = await call("POST", files, { ...about, gcs_path });
    setOutcome(`${file.name} is ${id}.`);
  };
  return (
    <section>
      <h2>Uploads</h2>
      <form action={(form) => send(form).catch(({ message }) => setOutcome(message))}>
        <label>
          File <input type="file" name="file" required />
        </label>
        <button type="submit">Upload</button>
      </form>
      {progress !== undefined && <progress value={progress} aria-label="Progress" />}
      <p role="status">{outcome}</p>
    </section>
  );
}
