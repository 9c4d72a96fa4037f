import { useCallback, useMemo } from "react";
import { Button } from "react-aria-components";
import { useParameters } from "../../address.ts";
import { useSandboxNow } from "../../live/sandbox-now.ts";
import { Badge } from "../../parts/mark.tsx";
import { Nothing, Notice, ReadProblem } from "../../parts/notice.tsx";
import { RelativeTime } from "../../parts/time.tsx";
import { type Column, VirtualTable } from "../../parts/virtual-table.tsx";
import { KeyPane } from "./key-pane.tsx";
import { type KeyRow, masked, rowsOf, useKeys } from "./keys.ts";
import { MakeKey } from "./make-key.tsx";
import "./keys.css";

const columnsAt = (now: number): readonly Column<KeyRow>[] => [
  {
    id: "state",
    title: "State",
    value: ({ unusable }) => unusable ?? "",
    show: ({ unusable }) => (
      <Badge outcome={unusable === undefined ? "ok" : "refused"}>{unusable ?? "works"}</Badge>
    ),
    width: "7.5rem",
  },
  { id: "name", title: "Name", value: ({ key }) => key.name, width: "minmax(0, 1fr)" },
  {
    id: "user",
    title: "Of",
    value: ({ key, user }) => user?.name ?? key.user_id,
    width: "minmax(0, 1fr)",
  },
  {
    id: "organization",
    title: "Acts in",
    value: ({ key }) => key.current,
    width: "minmax(0, 1fr)",
    from: "medium",
  },
  {
    id: "key",
    title: "Key",
    value: ({ key }) => key.id,
    show: ({ key }) => <code>{masked(key.key)}</code>,
    width: "6.5rem",
    from: "medium",
  },
  {
    id: "expires",
    title: "Expires",
    value: ({ key }) => key.expires_at ?? "~",
    show: ({ key }) =>
      key.expires_at === null ? (
        <span className="quiet">never</span>
      ) : (
        <RelativeTime at={key.expires_at} now={now} />
      ),
    width: "6.5rem",
    from: "medium",
  },
];
const keyOf = ({ key }: KeyRow) => key.id;

/** API keys (2.15, section 5): the service has them made in its web console, and here this is it. */
export default function Keys() {
  const { get, set } = useParameters();
  const { data, error } = useKeys();
  const now = useSandboxNow();
  const rows = useMemo(() => (data ? rowsOf(data.keys, data.users, now) : []), [data, now]);
  const chosen = rows.find(({ key }) => key.id === get("key"));
  const making = get("make") !== undefined;
  const close = useCallback(() => set({ key: undefined, make: undefined }), [set]);
  return (
    <div className="split">
      <div className="page keys">
        <div className="page-head">
          <h1>Keys</h1>
          <Button className="button primary" onPress={() => set({ make: "key", key: undefined })}>
            Make a key
          </Button>
          <p className="quiet">
            A key is shown whole when it is made, and then no more. Send it as <code>api-key</code>,{" "}
            <code>X-API-Key</code> or <code>Authorization: Bearer</code>.
          </p>
        </div>
        <ReadProblem error={error} />
        {get("key") !== undefined && data && !chosen && (
          <Notice outcome="refused">There is no key {get("key")}; it may have been deleted.</Notice>
        )}
        <VirtualTable
          label="Keys"
          columns={columnsAt(now)}
          rows={rows}
          keyOf={keyOf}
          selected={chosen?.key.id}
          onSelect={({ key }) => set({ key: key.id, make: undefined })}
          empty={
            data ? (
              <Nothing title="There are no keys.">
                {data.users.length === 0
                  ? "A key belongs to a user, and this world has none: make one in the view World."
                  : "Make one: every call of the API but a few needs a key."}
              </Nothing>
            ) : (
              <p className="loading quiet">Loading …</p>
            )
          }
        />
      </div>
      {making && data && <MakeKey users={data.users} organizations={data.organizations} onClose={close} />}
      {!making && chosen && <KeyPane key={chosen.key.id} row={chosen} onClose={close} />}
    </div>
  );
}
