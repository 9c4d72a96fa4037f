import { useState } from "react";
import type { JournalEntry, Repeated } from "../../../../types/control-api.ts";
import { useParameters } from "../../address.ts";
import { type SandboxCalls, sandboxCalls } from "../../api/calls.ts";
import { asCurl, asFetch, copyRequest, type RequestCopy } from "../../api/copy-request.ts";
import { useSandbox, useSandboxChange } from "../../api/queries.ts";
import { ActionButton } from "../../components/button.tsx";
import { ViewLink } from "../../components/layout.tsx";
import { Notice, Problem } from "../../components/notice.tsx";
import { CopyButton, pluralize } from "../../components/text.tsx";
import { BranchDialog, FailDialog, RewindDialog } from "./entry-dialogs.tsx";
import type { Node } from "./nodes.ts";
import { nodeTitle } from "./words.ts";

/** Copy, repeat, fail the next call, rewind, branch. */
export function EntryActions({ node, journal }: { node: Node; journal: JournalEntry | undefined }) {
  const { entry } = node;
  const title = nodeTitle(node).replace(/\.$/, "");
  const { data: sandbox } = useSandbox();
  const { set } = useParameters();
  const [opened, setOpened] = useState<"fail" | "rewind" | "branch">();
  const repeat = useSandboxChange((calls) => calls.repeatRequest(journal!.seq));
  const close = () => setOpened(undefined);
  const copy = async (as: (request: RequestCopy) => string) => {
    const calls = sandboxCalls(sandbox!.name);
    return as(copyRequest(journal!, sandbox!.base_url, await getKey(calls, journal!)));
  };
  return (
    <>
      {journal && sandbox && (
        <>
          <CopyButton label="Copy as curl" text={() => copy(asCurl)} />
          <CopyButton label="Copy as fetch" text={() => copy(asFetch)} />
          <ActionButton label="Repeat" change={repeat} />
          <ActionButton label="Fail the next call" onPress={() => setOpened("fail")} />
        </>
      )}
      {entry?.kind === "delivery" && (
        <ViewLink className="button" view="webhooks" query={{ delivery: entry.subject ?? "" }}>
          Request and response
        </ViewLink>
      )}
      {entry?.kept && (
        <>
          <ActionButton label="Rewind to before this" onPress={() => setOpened("rewind")} />
          <ActionButton label="Branch from here" onPress={() => setOpened("branch")} />
        </>
      )}
      <Problem error={repeat.error} />
      {repeat.data && (
        <RepeatedNotice repeated={repeat.data} onShow={() => set({ entry: repeat.data.request })} />
      )}
      {opened === "fail" && journal && <FailDialog entry={journal} onClose={close} />}
      {opened === "rewind" && entry && <RewindDialog entry={entry} title={title} onClose={close} />}
      {opened === "branch" && entry && <BranchDialog entry={entry} title={title} onClose={close} />}
    </>
  );
}

/** The API key of the request, which the journal masks; the control API may read it. */
async function getKey(calls: SandboxCalls, { api_key }: JournalEntry): Promise<string | undefined> {
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
  const show = <ActionButton label="Show" onPress={onShow} />;
  if (same) {
    return (
      <Notice outcome="ok" action={show}>
        The response is the same.
      </Notice>
    );
  }
  return (
    <Notice outcome="other" action={show}>
      The response differs in {pluralize(differences.length, "place")}:
      <ul className="places">
        {differences.slice(0, 8).map(({ what, before, after }) => (
          <li key={what}>
            <code>{what}</code>: {formatSide(before)} → {formatSide(after)}
          </li>
        ))}
      </ul>
    </Notice>
  );
}
