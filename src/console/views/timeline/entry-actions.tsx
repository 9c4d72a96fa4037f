import { useState } from "react";
import { Button } from "react-aria-components";
import { Link } from "wouter";
import { addressOf, useParameters } from "../../address.ts";
import { type SandboxCalls, sandboxCalls } from "../../api/calls.ts";
import { useSandbox, useSandboxChange } from "../../api/queries.ts";
import type { JournalEntry, Repeated } from "../../api/types.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Notice, Problem } from "../../parts/notice.tsx";
import { asCurl, asFetch, type Copied, copied } from "./copy-request.ts";
import { FailDialog } from "./fail-dialog.tsx";
import type { Node } from "./nodes.ts";
import { BranchDialog, RewindDialog } from "./travel-dialogs.tsx";

type Opened = "fail" | "rewind" | "branch" | undefined;

/** What can be done with an entry: say it elsewhere, do it again, make it fail, go back to before it. */
export function EntryActions({ node, journal }: { node: Node; journal: JournalEntry | undefined }) {
  const { entry } = node;
  const { data: sandbox } = useSandbox();
  const { set } = useParameters();
  const [opened, setOpened] = useState<Opened>();
  const repeat = useSandboxChange((calls, id: string) => calls.repeatRequest(id));
  const close = () => setOpened(undefined);
  const copy = async (as: (request: Copied) => string) => {
    const calls = sandboxCalls(sandbox!.name);
    return as(copied(journal!, sandbox!.base_url, await keyOf(calls, journal!)));
  };
  return (
    <>
      {journal && sandbox && (
        <>
          <CopyButton label="Copy as curl" text={() => copy(asCurl)} />
          <CopyButton label="Copy as fetch" text={() => copy(asFetch)} />
          <Button className="button" isPending={repeat.isPending} onPress={() => repeat.mutate(journal.id)}>
            Repeat
          </Button>
          <Button className="button" onPress={() => setOpened("fail")}>
            Make it fail next time
          </Button>
        </>
      )}
      {entry?.kind === "delivery" && sandbox && (
        <Link
          className="button"
          href={addressOf(sandbox.name, "webhooks", { delivery: entry.subject ?? "" })}
        >
          What went over the wire
        </Link>
      )}
      {entry?.kept && (
        <>
          <Button className="button" onPress={() => setOpened("rewind")}>
            Rewind to before
          </Button>
          <Button className="button" onPress={() => setOpened("branch")}>
            Branch from here
          </Button>
        </>
      )}
      <Problem error={repeat.error} />
      {repeat.data && (
        <RepeatedNotice repeated={repeat.data} onShow={() => set({ entry: repeat.data.request })} />
      )}
      {opened === "fail" && journal && <FailDialog entry={journal} onClose={close} />}
      {opened === "rewind" && entry && <RewindDialog entry={entry} onClose={close} />}
      {opened === "branch" && entry && <BranchDialog entry={entry} onClose={close} />}
    </>
  );
}

/** The journal masks it; whoever sees the console may see the keys of the world. */
async function keyOf(calls: SandboxCalls, { api_key }: JournalEntry): Promise<string | undefined> {
  if (api_key === null) return undefined;
  return calls.record("api_keys", api_key).then(
    ({ key }) => key,
    () => undefined,
  );
}

function RepeatedNotice({ repeated, onShow }: { repeated: Repeated; onShow: () => void }) {
  const { same, differences } = repeated;
  const show = (
    <Button className="button" onPress={onShow}>
      Show it
    </Button>
  );
  return (
    <Notice outcome={same ? "ok" : "other"} action={show}>
      {same
        ? "It was answered the same way once more."
        : `It was answered otherwise, in ${differences.length === 1 ? "one point" : `${differences.length} points`}:`}
      {!same && (
        <ul className="places">
          {differences.slice(0, 8).map(({ what, before, after }) => (
            <li key={what}>
              <code>{what}</code>: {JSON.stringify(before)} became {JSON.stringify(after)}
            </li>
          ))}
        </ul>
      )}
    </Notice>
  );
}
