import { useState } from "react";
import { Button } from "react-aria-components";
import type { ApiKey, User } from "../../api/actors.ts";
import { useSandbox, useSandboxChange } from "../../api/queries.ts";
import type { StateRecord } from "../../api/types.ts";
import { useSandboxNow } from "../../live/sandbox-now.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { DetailPane } from "../../parts/detail-pane.tsx";
import { type Choice, ChoiceField, Field, Form } from "../../parts/form.tsx";
import { Notice } from "../../parts/notice.tsx";

const AT = "at";
const DAY_MS = 86_400_000;
const EXPIRIES: readonly Choice[] = [
  { id: "", title: "Never" },
  { id: String(DAY_MS / 24), title: "In an hour", detail: "of the sandbox’s clock" },
  { id: String(DAY_MS), title: "In a day" },
  { id: String(90 * DAY_MS), title: "In 90 days" },
  { id: AT, title: "At …" },
];

/** A key for a user, seen whole until this is closed. */
export function MakeKey({
  users,
  organizations,
  onClose,
}: {
  users: readonly User[];
  organizations: readonly StateRecord<"organizations">[];
  onClose: () => void;
}) {
  const [user_id, setUser] = useState(users[0]?.id ?? "");
  const [chosen, setCurrent] = useState("");
  const [name, setName] = useState("");
  const [expiry, setExpiry] = useState("");
  const [instant, setInstant] = useState("");
  const now = useSandboxNow();
  const make = useSandboxChange((calls, given: Partial<ApiKey>) => calls.addRecord("api_keys", given));
  const homes = Object.entries(users.find(({ id }) => id === user_id)?.memberships ?? {});
  // Another user may be no member of what was chosen.
  const current = homes.some(([id]) => id === chosen) ? chosen : (homes[0]?.[0] ?? "");
  const nameOf = (id: string) => organizations.find((one) => one.id === id)?.name ?? id;
  const submit = () => {
    const expires_at =
      expiry === AT ? instant.trim() : expiry && new Date(now + Number(expiry)).toISOString();
    make.mutate({
      user_id,
      ...(current && { current }),
      ...(name.trim() && { name: name.trim() }),
      ...(expires_at && { expires_at }),
    });
  };
  if (make.data) return <MadeKey made={make.data} onClose={onClose} onMore={make.reset} />;
  return (
    <DetailPane title="Make a key" label="Make a key" onClose={onClose}>
      <Form
        submit="Make the key"
        pending={make.isPending}
        waiting={users.length === 0}
        error={make.error}
        onSubmit={submit}
      >
        <ChoiceField
          label="Of"
          name="user_id"
          value={user_id}
          onChange={setUser}
          choices={users.map(({ id, name, account }) => ({
            id,
            title: name,
            detail: account === "active" ? id : `${id}, ${account}`,
          }))}
        />
        {homes.length > 0 ? (
          <ChoiceField
            label="Acts in"
            name="current"
            value={current}
            onChange={setCurrent}
            choices={homes.map(([id, role]) => ({ id, title: nameOf(id), detail: `${role} of ${id}` }))}
            hint="Calls that name no organization are about this one. The user can change it later."
          />
        ) : (
          <Notice outcome="refused">
            {users.length === 0
              ? "This world has no user whose key it could be: make one in the view World."
              : "This user is a member of no organization: calls with the key will be refused."}
          </Notice>
        )}
        <Field label="Name" name="name" value={name} onChange={setName} placeholder="CI pipeline" />
        <ChoiceField
          label="Expires"
          name={expiry === AT ? "" : "expires_at"}
          value={expiry}
          onChange={setExpiry}
          choices={EXPIRIES}
        />
        {expiry === AT && (
          <Field
            label="At"
            name="expires_at"
            value={instant}
            onChange={setInstant}
            placeholder="2026-12-31T23:59:59Z"
            required
          />
        )}
      </Form>
    </DetailPane>
  );
}

function MadeKey({ made, onClose, onMore }: { made: ApiKey; onClose: () => void; onMore: () => void }) {
  const { data: sandbox } = useSandbox();
  const line = `curl -s -H 'api-key: ${made.key}' ${sandbox?.base_url ?? ""}/v1/models`;
  return (
    <DetailPane title={made.name} label="The new key" onClose={onClose}>
      <div className="made-key">
        <Notice outcome="ok">The key is made. Copy it now: it is not shown again.</Notice>
        <pre className="wire">{made.key}</pre>
        <div className="actions">
          <CopyButton text={made.key} label="Copy the key" />
          <CopyButton text={line} label="Copy a first call" />
        </div>
        <pre className="wire">{line}</pre>
        <div className="actions">
          <Button className="button" onPress={onClose}>
            Done
          </Button>
          <Button className="button subtle" onPress={onMore}>
            Make another
          </Button>
        </div>
      </div>
    </DetailPane>
  );
}
