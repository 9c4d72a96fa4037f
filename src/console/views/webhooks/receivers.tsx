import { useCallback } from "react";
import { Button } from "react-aria-components";
import { useParameters } from "../../address.ts";
import { useSandboxQuery } from "../../api/queries.ts";
import type { Receiver } from "../../api/types.ts";
import { Nothing, Notice, ReadProblem } from "../../parts/notice.tsx";
import { type Column, VirtualTable } from "../../parts/virtual-table.tsx";
import { answersText } from "./answers.ts";
import { OpenReceiver } from "./open-receiver.tsx";
import { ReceiverPane } from "./receiver-pane.tsx";
import { SENT_MS } from "./use-webhooks.ts";

const COLUMNS: readonly Column<Receiver>[] = [
  { id: "url", title: "URL", value: ({ url }) => url, width: "minmax(0, 2fr)" },
  {
    id: "answers",
    title: "Answers",
    value: ({ answers }) => answersText(answers),
    width: "minmax(0, 1fr)",
  },
  { id: "served", title: "Answered", value: ({ served }) => served, width: "5.5rem", number: true },
];
const keyOf = ({ id }: Receiver) => id;

/** Receivers inside the server: a partner's endpoint that answers as it is told, and judges each signature. */
export function Receivers() {
  const { get, set } = useParameters();
  const { data, error } = useSandboxQuery(["receivers"], (calls) => calls.receivers(), { everyMs: SENT_MS });
  const chosen = data?.items.find(({ id }) => id === get("receiver"));
  const opening = get("open") !== undefined;
  const close = useCallback(() => set({ receiver: undefined, open: undefined }), [set]);
  return (
    <div className="split">
      <div className="page">
        <div className="webhooks-tools">
          <span className="quiet">
            A partner’s endpoint inside this server: it answers as told and judges signatures.
          </span>
          <Button className="button primary" onPress={() => set({ open: "new", receiver: undefined })}>
            Open a receiver
          </Button>
        </div>
        <ReadProblem error={error} />
        {get("receiver") !== undefined && data && !chosen && (
          <Notice outcome="refused">There is no receiver {get("receiver")}; it may have been closed.</Notice>
        )}
        <VirtualTable
          label="Receivers"
          columns={COLUMNS}
          rows={data?.items ?? NONE}
          keyOf={keyOf}
          selected={chosen?.id}
          onSelect={({ id }) => set({ receiver: id, open: undefined })}
          empty={
            data === undefined ? (
              <p className="loading quiet">Loading …</p>
            ) : (
              <Nothing title="No receiver is open.">
                Open one, register a webhook for it, trigger an event: that is a delivery, without any code.
              </Nothing>
            )
          }
        />
      </div>
      {opening && <OpenReceiver onClose={close} />}
      {!opening && chosen && <ReceiverPane key={chosen.id} receiver={chosen} onClose={close} />}
    </div>
  );
}

const NONE: readonly never[] = [];
