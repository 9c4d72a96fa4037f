import { useMemo } from "react";
import { Button } from "react-aria-components";
import { useSelection } from "../../address.ts";
import { type ApiKey, getRole, type User, whyUnusable } from "../../api/actors.ts";
import { useSandboxChange, useSandboxQuery } from "../../api/queries.ts";
import { ConfirmButton } from "../../components/dialog.tsx";
import { DetailPane, Facts, ListView, ViewLink } from "../../components/layout.tsx";
import { Badge } from "../../components/mark.tsx";
import { EmptyState, Notice, Problem } from "../../components/notice.tsx";
import { RelativeTime, useSandboxNow } from "../../components/time.tsx";
import type { Column } from "../../components/virtual-table.tsx";
import { CreateKey } from "./create-key.tsx";

interface KeyRow {
  key: ApiKey;
  user: User | undefined;
  /** Why calls with it are rejected; undefined if accepted. */
  unusable: string | undefined;
}

const SEEN = 4;

/** The last characters of a key; the whole key is shown on creation only (2.15). */
function maskKey({ key }: ApiKey): string {
  return `ak_…${key.slice(-SEEN)}`;
}

function Expiry({ at }: { at: string | null }) {
  return at === null ? <span className="quiet">never</span> : <RelativeTime at={at} />;
}

const COLUMNS: readonly Column<KeyRow>[] = [
  {
    id: "state",
    title: "State",
    value: ({ unusable }) => unusable ?? "",
    show: ({ unusable }) => <Badge outcome={unusable ? "refused" : "ok"}>{unusable ?? "active"}</Badge>,
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
    show: ({ key }) => <code>{maskKey(key)}</code>,
    width: "6.5rem",
    from: "medium",
  },
  {
    id: "expires",
    title: "Expires",
    value: ({ key }) => key.expires_at ?? "~",
    show: ({ key }) => <Expiry at={key.expires_at} />,
    width: "6.5rem",
    from: "medium",
  },
];

/** API keys (2.15, section 5). The service creates them in its web console, which this view replaces. */
export default function Keys() {
  const { selected, isCreating, select, create, close } = useSelection("key");
  const { data, error } = useSandboxQuery(["keys"], async (calls) => {
    const [keys, users, organizations] = await Promise.all([
      calls.records("api_keys"),
      calls.records("users"),
      calls.records("organizations"),
    ]);
    return { keys: keys.items, users: users.items, organizations: organizations.items };
  });
  const now = useSandboxNow();
  const rows = useMemo(() => {
    const people = new Map(data?.users.map((user) => [user.id, user]));
    return data?.keys.map((key): KeyRow => {
      const user = people.get(key.user_id);
      return { key, user, unusable: whyUnusable(key, user, now) };
    });
  }, [data, now]);
  return (
    <ListView
      head={
        <div className="page-head">
          <h1>Keys</h1>
          <Button className="button primary" onPress={create}>
            Create key
          </Button>
          <p className="quiet">
            Keys are shown once, on creation. Send a key as <code>api-key</code>, <code>X-API-Key</code> or{" "}
            <code>Authorization: Bearer</code>.
          </p>
        </div>
      }
      error={error}
      kind="key"
      label="Keys"
      columns={COLUMNS}
      rows={rows}
      getKey={({ key }) => key.id}
      selected={selected}
      onSelect={({ key }) => select(key.id)}
      empty={
        <EmptyState title="No keys">
          {data?.users.length === 0
            ? "Keys belong to users. Create a user under World first."
            : "Most API calls need a key. Create one to start."}
        </EmptyState>
      }
      pane={(row) => <KeyPane row={row} onClose={close} />}
      otherPane={
        isCreating &&
        data && <CreateKey users={data.users} organizations={data.organizations} onClose={close} />
      }
    />
  );
}

/** One key: owner, state, revoke and delete. */
function KeyPane({ row: { key, user, unusable }, onClose }: { row: KeyRow; onClose: () => void }) {
  const revoke = useSandboxChange((calls) =>
    calls.changeRecord("api_keys", key.id, { revoked: !key.revoked }),
  );
  const remove = useSandboxChange(async (calls) => {
    await calls.removeRecord("api_keys", key.id);
    onClose();
  });
  return (
    <DetailPane
      title={key.name}
      label={`Key ${key.id}`}
      onClose={onClose}
      actions={
        <>
          <Button className="button" isPending={revoke.isPending} onPress={() => revoke.mutate()}>
            {key.revoked ? "Reactivate" : "Revoke"}
          </Button>
          <ConfirmButton title={`Delete ${key.name}?`} verb="Delete" change={remove}>
            Calls with this key will be rejected, and its usage counts are deleted. To keep the counts, revoke
            the key instead.
          </ConfirmButton>
        </>
      }
    >
      <Problem error={revoke.error} />
      {unusable === undefined ? (
        <Notice outcome="ok">This key is active.</Notice>
      ) : (
        <Notice outcome="refused">
          Calls with this key are rejected: {REASONS[unusable] ?? `${unusable}.`}
        </Notice>
      )}
      <div className="section">
        <Facts
          facts={{
            Key: <code>{maskKey(key)}</code>,
            Id: <code>{key.id}</code>,
            Owner: (
              <ViewLink view="world" query={{ collection: "users", record: key.user_id }}>
                {user?.name ?? key.user_id}
              </ViewLink>
            ),
            Organization: `${key.current}${user ? `, ${getRole(key, user) ?? "not a member"}` : ""}`,
            Expires: <Expiry at={key.expires_at} />,
            Activity: (
              <ViewLink view="timeline" query={{ find: key.user_id }}>
                Owner in timeline
              </ViewLink>
            ),
          }}
        />
      </div>
    </DetailPane>
  );
}

const REASONS: Readonly<Record<string, string>> = {
  revoked: "it was revoked.",
  expired: "it has expired.",
  suspended: "its owner is suspended.",
  disabled: "its owner is disabled.",
  "not a member": "its owner is not a member of its organization.",
};
