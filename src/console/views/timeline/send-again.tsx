import { useState } from "react";
import type { JournalEntry } from "../../../../types/control-api.ts";
import { NO_CREDENTIALS, useActors } from "../../api/actors.ts";
import { CREDENTIALS, joinRepeated, toRequestCopy } from "../../api/copy-request.ts";
import { BODILESS_METHODS } from "../../api/fetch-service.ts";
import { toInputError } from "../../api/form-fields.ts";
import { useServiceCall } from "../../api/queries.ts";
import { Dialog } from "../../components/button.tsx";
import { Answer } from "../../components/exchange.tsx";
import { ActorField, ChoiceField, Field, Form, useInputs } from "../../components/form.tsx";
import { Notice } from "../../components/status.tsx";
import { pluralize } from "../../components/text.tsx";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"].map((id) => ({ id, title: id }));

/** Edits a request and sends it, as the same user or another one. The input stays for the next attempt. */
export function SendAgainDialog({ entry, onClose }: { entry: JournalEntry; onClose: () => void }) {
  const { data: actors } = useActors();
  const request = toRequestCopy(entry);
  const { inputs, field } = useInputs({
    method: request.method,
    path: request.url,
    headers: request.headers
      .filter(([name]) => !CREDENTIALS.test(name))
      .map(([name, value]) => `${name}: ${value}`)
      .join("\n"),
    body: request.body ?? "",
  });
  // The entry has the id of the key.
  const [actorId, setActorId] = useState(entry.api_key ?? NO_CREDENTIALS);
  const send = useServiceCall(() => ({
    method: inputs.method,
    path: requirePath(inputs.path.trim()),
    headers: parseHeaders(inputs.headers),
    key: actors?.find(({ id }) => id === actorId)?.key,
    body: BODILESS_METHODS.test(inputs.method) || inputs.body === "" ? undefined : inputs.body,
  }));
  return (
    <Dialog title="Edit and send again" onClose={onClose}>
      <Form submit="Send" change={send} isWaiting={actors === undefined} onCancel={onClose}>
        <ChoiceField label="Method" {...field("method")} choices={METHODS} />
        <Field label="Path" {...field("path")} required />
        <ActorField actors={actors} value={actorId} onChange={setActorId} />
        <Field
          label="Headers"
          {...field("headers")}
          lines={3}
          hint="One per line, as name: value. Credentials are added. Browsers do not send cookie, host and a few others."
        />
        {!BODILESS_METHODS.test(inputs.method) && <Field label="Body" {...field("body")} lines={6} />}
        {request.binarySize !== undefined && (
          <Notice outcome="refused">
            The original body has {pluralize(request.binarySize, "byte")} that are not text, and is not sent.
            To send the same bytes, use “Repeat”.
          </Notice>
        )}
      </Form>
      {send.data && <Answer answer={send.data.answer} />}
    </Dialog>
  );
}

/** @throws ControlError for a path that does not begin with a slash, for example a whole URL */
function requirePath(path: string): string {
  if (path.startsWith("/")) return path;
  throw toInputError("path", "A path begins with a slash, such as /v1/models. Nothing was sent.");
}

/** @throws ControlError for a line that is not a header */
function parseHeaders(text: string): Record<string, string> {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return joinRepeated(
    lines.map((line) => {
      const [, name, value] = /^\s*([^:\s]+)\s*:\s*(.*)$/.exec(line) ?? [];
      if (name === undefined)
        throw toInputError("headers", `“${line}” is not of the form name: value. Nothing was sent.`);
      return [name, value!];
    }),
  );
}
