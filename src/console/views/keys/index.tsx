import { useCallback, useMemo } from "react";
import { Button } from "react-aria-components";
import { useParameters } from "../../address.ts";
import { Badge } from "../../components/mark.tsx";
import { EmptyState, LoadError, NotFound } from "../../components/notice.tsx";
import { RelativeTime, useSandboxNow } from "../../components/time.tsx";
import { type Column, VirtualTable } from "../../components/virtual-table.tsx";
import { CreateKey } from "./create-key.tsx";
import { KeyPane, type KeyRow, keyRows, masked, useKeys } from "./key-pane.tsx";

const makeColumns = (now: number): readonly Column<KeyRow>[] => [
  {
    id: "state",
    title: "State",
    value: ({ unusable }) => unusable ?? "",
    show: ({ unusable }) => (
      <Badge outcome={unusable === undefined ? "ok" : "refused"}>{unusable ?? "active"}</Badge>
    ),
    width: "7.5rem",
  },
  { id: "name", title: "Name", value: ({ key }) => key.name, width: "minmax(0, 1fr)" },
  {
    id: "user",
    title: "Owner",
    value: ({ key, user }) => user?.name ?? key.user_id,
    width: "minmax(0, 1fr)",
  },
  {
    id: "organization",
    title: "Organization",
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
const getKey = ({ key }: KeyRow) => key.id;

/** API keys (2.15, section 5). The service creates them in its web console, which this view replaces. */
export default function Keys() {
  const { get, set } = useParameters();
  const { data, error } = useKeys();
  const now = useSandboxNow();
  const rows = useMemo(() => data && keyRows(data.keys, data.users, now), [data, now]);
  const chosen = rows?.find(({ key }) => key.id === get("key"));
  const creating = get("make") !== undefined;
  const close = useCallback(() => set({ key: undefined, make: undefined }), [set]);
  return (
    <div className="split">
      <div className="page keys">
        <div className="page-head">
          <h1>Keys</h1>
          <Button className="button primary" onPress={() => set({ make: "key", key: undefined })}>
            Create key
          </Button>
          <p className="quiet">
            Keys are shown once, on creation. Send a key as <code>api-key</code>, <code>X-API-Key</code> or{" "}
            <code>Authorization: Bearer</code>.
          </p>
        </div>
        <LoadError error={error} />
        {get("key") !== undefined && data && !chosen && <NotFound kind="key" id={get("key")} />}
        <VirtualTable
          label="Keys"
          columns={makeColumns(now)}
          rows={rows}
          getKey={getKey}
          selected={chosen?.key.id}
          onSelect={({ key }) => set({ key: key.id, make: undefined })}
          empty={
            <EmptyState title="No keys">
              {data?.users.length === 0
                ? "Keys belong to users. Create a user under World first."
                : "Most API calls need a key. Create one to start."}
            </EmptyState>
          }
        />
      </div>
      {creating && data && (
        <CreateKey users={data.users} organizations={data.organizations} onClose={close} />
      )}
      {!creating && chosen && <KeyPane key={chosen.key.id} row={chosen} onClose={close} />}
    </div>
  );
}
