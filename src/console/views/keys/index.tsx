import { useSelection } from "../../address.ts";
import { type Actor, useActors } from "../../api/actors.ts";
import { useSandboxChange } from "../../api/queries.ts";
import { ActionButton, ConfirmButton } from "../../components/button.tsx";
import { ConnectActions, maskKey } from "../../components/connect.tsx";
import { DetailPane, Facts, ListView, ViewLink } from "../../components/layout.tsx";
import { Badge, EmptyState, Notice, Problem } from "../../components/status.tsx";
import { CopyButton } from "../../components/text.tsx";
import { RelativeTime } from "../../components/time.tsx";
import type { Column } from "../../components/virtual-table.tsx";
import { CreateKey } from "./create-key.tsx";

function Expiry({ at }: { at: string | null }) {
  return at === null ? <span className="quiet">never</span> : <RelativeTime at={at} />;
}

const COLUMNS: readonly Column<Actor>[] = [
  {
    id: "state",
    title: "State",
    value: ({ unusableReason }) => unusableReason ?? "",
    renderCell: ({ unusableReason }) => (
      <Badge outcome={unusableReason ? "refused" : "ok"}>{unusableReason ?? "active"}</Badge>
    ),
    width: "7.5rem",
  },
  { id: "name", title: "Name" },
  {
    id: "user",
    title: "Owner",
    value: ({ user, user_id }) => user?.name ?? user_id,
    minTableWidth: "medium",
  },
  { id: "current", title: "Organization", minTableWidth: "medium" },
  { id: "id", title: "Key", renderCell: (apiKey) => <CopyKey apiKey={apiKey} />, width: "6.5rem" },
  {
    id: "expires",
    title: "Expires",
    value: ({ expires_at }) => expires_at ?? "never",
    renderCell: ({ expires_at }) => <Expiry at={expires_at} />,
    width: "6.5rem",
    minTableWidth: "medium",
  },
];

function CopyKey({ apiKey: { key, name } }: { apiKey: Actor }) {
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the button inside handles keys
    // biome-ignore lint/a11y/useKeyWithClickEvents: the button inside handles keys
    <span onClick={(event) => event.stopPropagation()}>
      <CopyButton isSubtle text={key} label="Copy key" name={`Copy key of ${name}`} />
    </span>
  );
}

/** API keys (sections 2.15 and 5). The service creates them in its web console, which this view replaces. */
export default function Keys() {
  const { selected, isCreating, select, create, close } = useSelection("key");
  const { data, error } = useActors();
  return (
    <ListView
      head={
        <div className="page-head">
          <h1>Keys</h1>
          <ActionButton label="Create key" look="primary" onPress={create} />
          <p className="quiet">
            Send a key in the header <code>api-key</code> or <code>X-API-Key</code>, or as{" "}
            <code>Authorization: Bearer</code>.
          </p>
        </div>
      }
      error={error}
      notFoundKind="key"
      label="Keys"
      columns={COLUMNS}
      rows={data}
      getKey={({ id }) => id}
      selected={selected}
      onSelect={({ id }) => select(id)}
      empty={<EmptyState title="No keys">Most API calls need a key. Create one for a user.</EmptyState>}
      pane={(key) => <KeyPane apiKey={key} onClose={close} />}
      otherPane={isCreating && <CreateKey onClose={close} />}
    />
  );
}

function KeyPane({ apiKey, onClose }: { apiKey: Actor; onClose: () => void }) {
  const { id, name, revoked, user, user_id, current, role, unusableReason } = apiKey;
  const revoke = useSandboxChange((calls) => calls.changeRecord("api_keys", id, { revoked: !revoked }), {
    confirmation: `${revoked ? "Reactivated" : "Revoked"} “${name}”.`,
  });
  const remove = useSandboxChange((calls) => calls.removeRecord("api_keys", id).then(onClose), {
    confirmation: `Deleted “${name}”.`,
  });
  return (
    <DetailPane
      title={name}
      label={`Key ${id}`}
      onClose={onClose}
      actions={
        <>
          <ActionButton label={revoked ? "Reactivate" : "Revoke"} change={revoke} />
          <ConfirmButton title={`Delete ${name}?`} verb="Delete" change={remove}>
            Calls with this key and its access tokens will be rejected. Its spending still counts.
          </ConfirmButton>
        </>
      }
    >
      <Problem error={revoke.error} />
      {unusableReason === undefined ? (
        <Notice outcome="ok">This key is active.</Notice>
      ) : (
        <Notice outcome="refused">
          Calls with this key are rejected: {REASONS[unusableReason] ?? `${unusableReason}.`}
        </Notice>
      )}
      <div className="section">
        <ConnectActions apiKey={apiKey} />
      </div>
      <div className="section">
        <Facts
          facts={{
            Key: <code>{maskKey(apiKey.key)}</code>,
            Id: <code>{id}</code>,
            Owner: (
              <ViewLink view="world" query={{ collection: "users", record: user_id }}>
                {user?.name ?? user_id}
              </ViewLink>
            ),
            Organization: `${current}${user ? `, ${role ?? "not a member"}` : ""}`,
            Expires: <Expiry at={apiKey.expires_at} />,
            Activity: (
              <ViewLink view="timeline" query={{ find: `user:${user_id}` }}>
                Show the owner’s requests in the timeline
              </ViewLink>
            ),
          }}
        />
      </div>
    </DetailPane>
  );
}

const REASONS: Readonly<Record<string, string>> = {
  "no user": "its owner does not exist.",
  revoked: "it was revoked.",
  expired: "it has expired.",
  suspended: "its owner is suspended.",
  disabled: "its owner is disabled.",
  "not a member": "its owner is not a member of the key’s organization.",
};
