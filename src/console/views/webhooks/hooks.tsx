import { useCallback, useMemo } from "react";
import { Button } from "react-aria-components";
import { useParameters } from "../../address.ts";
import { useSandboxNow } from "../../live/sandbox-now.ts";
import { Badge } from "../../parts/mark.tsx";
import { Nothing, Notice, ReadProblem } from "../../parts/notice.tsx";
import { RelativeTime } from "../../parts/time.tsx";
import { type Column, VirtualTable } from "../../parts/virtual-table.tsx";
import type { Webhook } from "./attempts.ts";
import { HookPane } from "./hook-pane.tsx";
import { RegisterHook } from "./register-hook.tsx";
import { useWebhooks } from "./use-webhooks.ts";

const columnsAt = (now: number): readonly Column<Webhook>[] => [
  {
    id: "state",
    title: "State",
    value: ({ active }) => (active ? 0 : 1),
    show: ({ active }) => <Badge outcome={active ? "ok" : "other"}>{active ? "active" : "inactive"}</Badge>,
    width: "6rem",
  },
  { id: "url", title: "URL", value: ({ url }) => url, width: "minmax(0, 1.6fr)" },
  {
    id: "events",
    title: "Hears of",
    value: ({ events }) => events.join(", "),
    width: "minmax(0, 1fr)",
    from: "medium",
  },
  {
    id: "organization",
    title: "Of",
    value: ({ organization_id }) => organization_id,
    width: "7rem",
    from: "wide",
  },
  {
    id: "last",
    title: "Last delivery",
    value: ({ last_delivery }) => last_delivery ?? "",
    show: ({ last_delivery }) =>
      last_delivery === null ? (
        <span className="quiet">none</span>
      ) : (
        <RelativeTime at={last_delivery} now={now} />
      ),
    width: "7rem",
    from: "medium",
  },
];
const keyOf = ({ webhook_id }: Webhook) => webhook_id;

/** The webhooks of all organizations. */
export function Hooks() {
  const { get, set } = useParameters();
  const now = useSandboxNow();
  const columns = useMemo(() => columnsAt(now), [now]);
  const { data, error } = useWebhooks();
  const chosen = data?.items.find(({ webhook_id }) => webhook_id === get("webhook"));
  const registering = get("register");
  const close = useCallback(() => set({ webhook: undefined, register: undefined }), [set]);
  return (
    <div className="split">
      <div className="page">
        <div className="webhooks-tools">
          <span className="quiet">
            Signed with a secret of its own, tried again on a schedule, off after a 410.
          </span>
          <Button className="button primary" onPress={() => set({ register: "new", webhook: undefined })}>
            Register a webhook
          </Button>
        </div>
        <ReadProblem error={error} />
        {get("webhook") !== undefined && data && !chosen && (
          <Notice outcome="refused">There is no webhook {get("webhook")}; it may have been deleted.</Notice>
        )}
        <VirtualTable
          label="Webhooks"
          columns={columns}
          rows={data?.items ?? NONE}
          keyOf={keyOf}
          selected={chosen?.webhook_id}
          onSelect={({ webhook_id }) => set({ webhook: webhook_id, register: undefined })}
          empty={
            data === undefined ? (
              <p className="loading quiet">Loading …</p>
            ) : (
              <Nothing title="Nobody listens.">
                Register a webhook here, or by <code>POST /webhooks</code>; a receiver inside the server does
                for a start.
              </Nothing>
            )
          }
        />
      </div>
      {registering !== undefined && <RegisterHook onClose={close} />}
      {registering === undefined && chosen && (
        <HookPane key={chosen.webhook_id} webhook={chosen} onClose={close} />
      )}
    </div>
  );
}

const NONE: readonly never[] = [];
