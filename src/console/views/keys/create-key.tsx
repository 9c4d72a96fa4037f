import { useState } from "react";
import { Button } from "react-aria-components";
import type { StateRecord } from "../../../../types/control-api.ts";
import type { ApiKey, User } from "../../api/actors.ts";
import { useSandbox, useSandboxChange } from "../../api/queries.ts";
import { type Choice, ChoiceField, Field, Form } from "../../components/form.tsx";
import { DetailPane } from "../../components/layout.tsx";
import { Notice } from "../../components/notice.tsx";
import { CopyButton } from "../../components/text.tsx";
import { useSandboxNow } from "../../components/time.tsx";

const AT = "at";
const DAY_MS = 86_400_000;
const EXPIRIES: readonly Choice[] = [
  { id: "", title: "Never" },
  { id: String(DAY_MS / 24), title: "In 1 hour", detail: "sandbox time" },
  { id: String(DAY_MS), title: "In 1 day" },
  { id: String(90 * DAY_MS), title: "In 90 days" },
  { id: AT, title: "At …" },
];

/** Creates a key and shows it until the pane is closed. */
export function CreateKey({
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
  const create = useSandboxChange((calls, given: Partial<ApiKey>) => calls.addRecord("api_keys", given));
  const memberships = Object.entries(users.find(({ id }) => id === user_id)?.memberships ?? {});
  // Another user may not be a member of the selected organization.
  const current = memberships.some(([id]) => id === chosen) ? chosen : (memberships[0]?.[0] ?? "");
  const organizationName = (id: string) => organizations.find((one) => one.id === id)?.name ?? id;
  const submit = () => {
    const expires_at =
      expiry === AT ? instant.trim() : expiry && new Date(now + Number(expiry)).toISOString();
    create.mutate({
      user_id,
      ...(current && { current }),
      ...(name.trim() && { name: name.trim() }),
      ...(expires_at && { expires_at }),
    });
  };
  if (create.data) return <CreatedKey apiKey={create.data} onClose={onClose} onMore={create.reset} />;
  return (
    <DetailPane title="Create key" label="Create key" onClose={onClose}>
      <Form
        submit="Create"
        pending={create.isPending}
        waiting={users.length === 0}
        error={create.error}
        onSubmit={submit}
      >
        <ChoiceField
          label="Owner"
          name="user_id"
          value={user_id}
          onChange={setUser}
          choices={users.map(({ id, name, account }) => ({
            id,
            title: name,
            detail: account === "active" ? id : `${id}, ${account}`,
          }))}
        />
        {memberships.length > 0 ? (
          <ChoiceField
            label="Organization"
            name="current"
            value={current}
            onChange={setCurrent}
            choices={memberships.map(([id, role]) => ({
              id,
              title: organizationName(id),
              detail: `${role} of ${id}`,
            }))}
            hint="Used by calls that do not name an organization. The user can change it later."
          />
        ) : (
          <Notice outcome="refused">
            {users.length === 0
              ? "This sandbox has no users. Create one under World first."
              : "This user is not a member of any organization. Calls with the key will be rejected."}
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

function CreatedKey({
  apiKey,
  onClose,
  onMore,
}: {
  apiKey: ApiKey;
  onClose: () => void;
  onMore: () => void;
}) {
  const { data: sandbox } = useSandbox();
  const line = `curl -s -H 'api-key: ${apiKey.key}' ${sandbox?.base_url ?? ""}/v1/models`;
  return (
    <DetailPane title={apiKey.name} label="New key" onClose={onClose}>
      <div className="made-key">
        <Notice outcome="ok">Key created. Copy it now: it will not be shown again.</Notice>
        <pre className="wire">{apiKey.key}</pre>
        <div className="actions">
          <CopyButton text={apiKey.key} label="Copy key" />
          <CopyButton text={line} label="Copy example call" />
        </div>
        <pre className="wire">{line}</pre>
        <div className="actions">
          <Button className="button" onPress={onClose}>
            Done
          </Button>
          <Button className="button subtle" onPress={onMore}>
            Create another
          </Button>
        </div>
      </div>
    </DetailPane>
  );
}
