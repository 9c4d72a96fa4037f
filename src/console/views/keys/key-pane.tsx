import { useState } from "react";
import { Button } from "react-aria-components";
import { Link } from "wouter";
import { addressOf, useSandboxName } from "../../address.ts";
import { roleOf } from "../../api/actors.ts";
import { useSandboxChange } from "../../api/queries.ts";
import { useSandboxNow } from "../../live/sandbox-now.ts";
import { Confirm } from "../../parts/confirm.tsx";
import { DetailPane } from "../../parts/detail-pane.tsx";
import { Facts } from "../../parts/facts.tsx";
import { Notice, Problem } from "../../parts/notice.tsx";
import { RelativeTime } from "../../parts/time.tsx";
import { type KeyRow, masked, whyWords } from "./keys.ts";

/** One key: whose it is, what refuses it, and how to end it. */
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
            {key.revoked ? "Let it work again" : "Revoke"}
          </Button>
          <Button className="button danger" onPress={() => setDeleting(true)}>
            Delete …
          </Button>
        </>
      }
    >
      <Problem error={revoke.error} />
      {unusable === undefined ? (
        <Notice outcome="ok">Calls with it are accepted.</Notice>
      ) : (
        <Notice outcome="refused">Every call with it is refused. {whyWords(unusable)}</Notice>
      )}
      <div className="section">
        <Facts
          facts={[
            ["Key", <code key="key">{masked(key.key)}</code>],
            ["Id", <code key="id">{key.id}</code>],
            [
              "Of",
              <Link
                key="user"
                href={addressOf(sandbox, "world", { collection: "users", record: key.user_id })}
              >
                {user?.name ?? key.user_id}
              </Link>,
            ],
            ["Acts in", `${key.current}${user ? `, ${roleOf(key, user) ?? "no member"}` : ""}`],
            [
              "Expires",
              key.expires_at === null ? "never" : <RelativeTime key="at" at={key.expires_at} now={now} />,
            ],
            [
              "Elsewhere",
              <Link key="calls" href={addressOf(sandbox, "timeline", { find: key.user_id })}>
                what its user did
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
            Calls with it are refused from now on, and what was counted for it is forgotten. To keep that,
            revoke it instead.
          </p>
        </Confirm>
      )}
    </DetailPane>
  );
}
