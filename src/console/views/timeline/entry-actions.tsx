import type { JournalEntry, Repeated } from "../../../../types/control-api.ts";
import { useParameters } from "../../address.ts";
import { createSandboxCalls, type SandboxCalls } from "../../api/calls.ts";
import {
  formatAsCurl,
  formatAsEnvironment,
  formatAsFetch,
  formatAsPython,
  type RequestCopy,
  toRequestCopy,
} from "../../api/copy-request.ts";
import { SAFE_METHODS } from "../../api/fetch-service.ts";
import { useSandbox, useSandboxChange } from "../../api/queries.ts";
import { undoRequest } from "../../api/undo.ts";
import { ActionButton, DialogButton } from "../../components/button.tsx";
import { ViewLink } from "../../components/layout.tsx";
import { Notice, Problem } from "../../components/status.tsx";
import { CopyButton, pluralize } from "../../components/text.tsx";
import { RetryNow } from "../webhooks/retry-now.tsx";
import { EntryStateActions, FailDialog } from "./entry-dialogs.tsx";
import type { Node } from "./nodes.ts";
import { usePins } from "./pinned.tsx";
import { SendAgainDialog } from "./send-again.tsx";
import { describeNode } from "./words.ts";

export function EntryActions({ node, journalEntry }: { node: Node; journalEntry: JournalEntry | undefined }) {
  const { entry, request } = node;
  const { data: sandbox } = useSandbox();
  const { set } = useParameters();
  const { pins, toggle } = usePins();
  const repeat = useSandboxChange((calls) => calls.repeatRequest(journalEntry!.seq), {
    // A request that is rejected again leaves nothing to undo.
    confirmation: ({ same }) =>
      SAFE_METHODS.test(journalEntry!.method) || (same && journalEntry!.status >= 400)
        ? undefined
        : "Sent the request again.",
    undo: (calls, { request }) => undoRequest(calls, request),
  });
  const readKey = () => fetchKey(createSandboxCalls(sandbox!.name), journalEntry!);
  const copy = async (format: (request: RequestCopy) => string) =>
    format(toRequestCopy(journalEntry!, { base: sandbox!.base_url, key: await readKey() }));
  return (
    <>
      {journalEntry && sandbox && (
        <>
          <CopyButton label="Copy as curl" text={() => copy(formatAsCurl)} />
          <CopyButton label="Copy as fetch" text={() => copy(formatAsFetch)} />
          <CopyButton label="Copy as Python" text={() => copy(formatAsPython)} />
          <CopyButton
            label="Copy as .env"
            text={async () => formatAsEnvironment(sandbox.base_url, await readKey())}
          />
          <ActionButton label="Repeat" change={repeat} />
          <DialogButton label="Edit and send again …">
            {(close) => <SendAgainDialog entry={journalEntry} onClose={close} />}
          </DialogButton>
          <DialogButton label="Fail the next call …">
            {(close) => <FailDialog entry={journalEntry} onClose={close} />}
          </DialogButton>
        </>
      )}
      <ActionButton label={pins.includes(node.seq) ? "Unpin" : "Pin"} onPress={() => toggle(node.seq)} />
      {entry?.kind === "delivery" && entry.subject && (
        <>
          <RetryNow delivery={entry.subject} />
          <ViewLink className="button" view="webhooks" query={{ delivery: entry.subject }}>
            Request and response
          </ViewLink>
        </>
      )}
      {entry ? (
        <EntryStateActions entry={entry} title={describeNode(node)} />
      ) : (
        <p className="quiet small wide">
          {request?.history
            ? "This call’s change is no longer recorded, so you cannot rewind to it."
            : "The call changed no data. To rewind or fork, open an entry that did."}
        </p>
      )}
      <Problem error={repeat.error} />
      {repeat.data && (
        <RepeatedNotice repeated={repeat.data} onShow={() => set({ entry: repeat.data.request })} />
      )}
    </>
  );
}

/** The API key of the request, which the journal masks; the control API may read it. */
async function fetchKey(calls: SandboxCalls, { api_key }: JournalEntry): Promise<string | undefined> {
  if (api_key === null) return undefined;
  return calls.record("api_keys", api_key).then(
    ({ key }) => key,
    () => undefined,
  );
}

/** The API reports a missing value as null, or leaves it out. */
function formatSide(value: unknown): string {
  return value === null || value === undefined ? "missing" : JSON.stringify(value);
}

function RepeatedNotice({ repeated, onShow }: { repeated: Repeated; onShow: () => void }) {
  const { same, differences } = repeated;
  return (
    <Notice outcome={same ? "ok" : "other"} action={<ActionButton label="Show" onPress={onShow} />}>
      {same
        ? "The response is the same."
        : `The response differs in ${pluralize(differences.length, "place")}:`}
      {!same && (
        <ul className="places">
          {differences.slice(0, 8).map(({ what, before, after }) => (
            <li key={what}>
              <code>{what}</code>: {formatSide(before)} → {formatSide(after)}
            </li>
          ))}
        </ul>
      )}
    </Notice>
  );
}
