import { useState } from "react";
import { Button } from "react-aria-components";
import { Link } from "wouter";
import { toAddress, useSandboxName } from "../../address.ts";
import { type ApiKey, getRole, type User, whyUnusable } from "../../api/actors.ts";
import { useSandboxChange, useSandboxQuery } from "../../api/queries.ts";
import { Confirm } from "../../components/dialog.tsx";
import { DetailPane, Facts } from "../../components/layout.tsx";
import { Notice, Problem } from "../../components/notice.tsx";
import { RelativeTime, useSandboxNow } from "../../components/time.tsx";

/** One key: owner, state, revoke and delete. */
export function KeyPane({ row, onClose }: { row: KeyRow; onClose: () => void }) {
  const { key, user, unusable } = row;
  const sandbox = useSandboxName();
  const now = useSandboxNow();
  const [deleting, setDeleting] = useState(false);
  const revoke = useSandboxChange((calls, revoked: boolean) =>
    calls.changeRecord("api_keys", key.id, { revoked }),
  );
  const remove = useSandboxChange(async (calls, _: undefined) => {
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
          <Button className="button" isPending={revoke.isPending} onPress={() => revoke.mutate(!key.revoked)}>
            {key.revoked ? "Reactivate" : "Revoke"}
          </Button>
          <Button className="button danger" onPress={() => setDeleting(true)}>
            Delete …
          </Button>
        </>
      }
    >
      <Problem error={revoke.error} />
      {unusable === undefined ? (
        <Notice outcome="ok">This key is active.</Notice>
      ) : (
        <Notice outcome="refused">Calls with this key are rejected: {explainUnusable(unusable)}</Notice>
      )}
      <div className="section">
        <Facts
          facts={[
            ["Key", <code key="key">{masked(key.key)}</code>],
            ["Id", <code key="id">{key.id}</code>],
            [
              "Owner",
              <Link
                key="user"
                href={toAddress(sandbox, "world", { collection: "users", record: key.user_id })}
              >
                {user?.name ?? key.user_id}
              </Link>,
            ],
            ["Organization", `${key.current}${user ? `, ${getRole(key, user) ?? "not a member"}` : ""}`],
            [
              "Expires",
              key.expires_at === null ? "never" : <RelativeTime key="at" at={key.expires_at} now={now} />,
            ],
            [
              "Activity",
              <Link key="calls" href={toAddress(sandbox, "timeline", { find: key.user_id })}>
                Owner in timeline
              </Link>,
            ],
          ]}
        />
      </div>
      {deleting && (
        <Confirm
          title={`Delete ${key.name}?`}
          verb="Delete"
          pending={remove.isPending}
          error={remove.error}
          onConfirm={() => remove.mutate(undefined)}
          onClose={() => setDeleting(false)}
        >
          <p>
            Calls with this key will be rejected, and its usage counts are deleted. To keep the counts, revoke
            the key instead.
          </p>
        </Confirm>
      )}
    </DetailPane>
  );
}

export interface KeyRow {
  key: ApiKey;
  user: User | undefined;
  /** Why calls with it are rejected; undefined if accepted. */
  unusable: string | undefined;
}

/** All keys, users and organizations. */
export function useKeys() {
  return useSandboxQuery(["keys"], async (calls) => {
    const [keys, users, organizations] = await Promise.all([
      calls.records("api_keys"),
      calls.records("users"),
      calls.records("organizations"),
    ]);
    return { keys: keys.items, users: users.items, organizations: organizations.items };
  });
}

/** `now`: sandbox time in milliseconds. */
export function keyRows(keys: readonly ApiKey[], users: readonly User[], now: number): KeyRow[] {
  const people = new Map(users.map((user) => [user.id, user]));
  return keys.map((key) => {
    const user = people.get(key.user_id);
    return { key, user, unusable: whyUnusable(key, user, now) };
  });
}

const SEEN = 4;

/** The last characters of a key; the whole key is shown on creation only (2.15). */
export function masked(key: string): string {
  return `ak_…${key.slice(-SEEN)}`;
}

const WHY: Readonly<Record<string, string>> = {
  revoked: "it was revoked.",
  expired: "it has expired.",
  suspended: "its owner is suspended.",
  disabled: "its owner is disabled.",
  "not a member": "its owner is not a member of its organization.",
};

export function explainUnusable(unusable: string): string {
  return WHY[unusable] ?? `${unusable}.`;
}
