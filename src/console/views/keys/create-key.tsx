import type { StateRecord } from "../../../../types/control-api.ts";
import { omitEmptyInputs } from "../../api/form-fields.ts";
import { useRecords, useSandboxChange } from "../../api/queries.ts";
import { ActionButton } from "../../components/button.tsx";
import { ConnectActions } from "../../components/connect.tsx";
import { type Choice, ChoiceField, Field, Form, useInputs } from "../../components/form.tsx";
import { AddRecordLink, DetailPane } from "../../components/layout.tsx";
import { LoadError, Notice } from "../../components/status.tsx";
import { useSandboxNow } from "../../components/time.tsx";

const AT_TIME = "at";
const DAY_MS = 86_400_000;
/** Ids are milliseconds from now, empty for never, or AT_TIME. */
const EXPIRIES: readonly Choice[] = [
  { id: "", title: "Never" },
  { id: String(DAY_MS / 24), title: "In 1 hour", detail: "sandbox time" },
  { id: String(DAY_MS), title: "In 1 day" },
  { id: String(90 * DAY_MS), title: "In 90 days" },
  { id: AT_TIME, title: "At …" },
];

/** Creates a key and shows it until the pane is closed. */
export function CreateKey({ onClose }: { onClose: () => void }) {
  const { data: users, error } = useRecords("users");
  const { data: organizations } = useRecords("organizations");
  const { inputs, field, changeInputs } = useInputs({
    user_id: "",
    current: "",
    name: "",
    expiry: "",
    expires_at: "",
  });
  const { name, expiry } = inputs;
  const user = users?.items.find(({ id }) => id === inputs.user_id) ?? users?.items[0];
  const now = useSandboxNow();
  const memberships = Object.entries(user?.memberships ?? {});
  // Another user may not be a member of the selected organization.
  const [current = ""] = memberships.find(([id]) => id === inputs.current) ?? memberships[0] ?? [];
  const create = useSandboxChange(
    (calls) => {
      const expires_at =
        expiry === AT_TIME ? inputs.expires_at : expiry && new Date(now + Number(expiry)).toISOString();
      return calls.addRecord("api_keys", {
        user_id: user!.id,
        ...omitEmptyInputs({ current, name, expires_at }),
      });
    },
    { confirmation: ({ name }) => `Created key “${name}”.` },
  );
  if (create.data) return <CreatedKey apiKey={create.data} onClose={onClose} onMore={create.reset} />;
  return (
    <DetailPane title="Create key" label="Create key" onClose={onClose}>
      <LoadError error={error} />
      <Form submit="Create" change={create} isWaiting={user === undefined}>
        <ChoiceField
          label="Owner"
          {...field("user_id")}
          value={user?.id ?? ""}
          choices={users?.items.map(({ id, name, account }) => ({
            id,
            title: name,
            detail: account === "active" ? id : `${id}, ${account}`,
          }))}
        />
        {memberships.length > 0 && (
          <ChoiceField
            label="Organization"
            {...field("current")}
            value={current}
            choices={memberships.map(([id, role]) => ({
              id,
              title: organizations?.items.find((one) => one.id === id)?.name ?? id,
              detail: `${role} of ${id}`,
            }))}
            hint="Used by calls that do not name an organization. The user can change it later."
          />
        )}
        {users && memberships.length === 0 && (
          <Notice outcome="refused" action={user === undefined && <AddRecordLink collection="users" />}>
            {user === undefined
              ? "This sandbox has no users. Each key belongs to a user."
              : "This user is not a member of any organization. Calls with the key will be rejected."}
          </Notice>
        )}
        <Field label="Name" {...field("name")} placeholder="CI pipeline" />
        <ChoiceField
          label="Expires"
          name={expiry === AT_TIME ? "" : "expires_at"}
          value={expiry}
          onChange={(expiry) => changeInputs({ expiry })}
          choices={EXPIRIES}
        />
        {expiry === AT_TIME && (
          <Field label="Expires at" {...field("expires_at")} placeholder="2026-12-31T23:59:59Z" required />
        )}
      </Form>
    </DetailPane>
  );
}

function CreatedKey(props: { apiKey: StateRecord<"api_keys">; onClose: () => void; onMore: () => void }) {
  const { apiKey, onClose, onMore } = props;
  return (
    <DetailPane title={apiKey.name} label="New key" onClose={onClose}>
      <div className="stack">
        <Notice outcome="ok">
          Key created. The service shows a new key once; here you can always copy it.
        </Notice>
        <pre className="wire">{apiKey.key}</pre>
        <ConnectActions apiKey={apiKey} />
        <div className="actions">
          <ActionButton label="Done" onPress={onClose} />
          <ActionButton label="Create another" look="subtle" onPress={onMore} />
        </div>
      </div>
    </DetailPane>
  );
}
