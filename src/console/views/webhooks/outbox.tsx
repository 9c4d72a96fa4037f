import type { Email } from "../../../../types/control-api.ts";
import { useParameters } from "../../address.ts";
import { usePollingWhileRunning, useSandboxQuery } from "../../api/queries.ts";
import { FilterField } from "../../components/form.tsx";
import { DetailPane, Facts, ListView, ViewLink } from "../../components/layout.tsx";
import { EmptyState } from "../../components/status.tsx";
import { containsWords } from "../../components/text.tsx";
import { RelativeTime } from "../../components/time.tsx";
import type { Column } from "../../components/virtual-table.tsx";

const COLUMNS: readonly Column<Email>[] = [
  { id: "to", title: "To", width: "minmax(0, 14rem)" },
  { id: "subject", title: "Subject" },
  {
    id: "at",
    title: "Sent",
    renderCell: ({ at }) => <RelativeTime at={at} />,
    width: "7rem",
    minTableWidth: "medium",
  },
];

export function Outbox() {
  const { get, set } = useParameters();
  const { data, error } = useSandboxQuery(["outbox"], (calls) => calls.outbox(), usePollingWhileRunning());
  const find = get("find") ?? "";
  const rows = data?.items.filter(({ to, subject, body }) => containsWords(`${to} ${subject} ${body}`, find));
  return (
    <ListView
      head={
        <div className="tools">
          <FilterField
            label="Filter e-mails"
            placeholder="Filter by address or text"
            value={find}
            onChange={(find) => set({ find }, { replace: true })}
          />
        </div>
      }
      error={error}
      notFoundKind={find === "" ? "e-mail" : undefined}
      label="E-mails"
      columns={COLUMNS}
      rows={rows}
      getKey={({ id }) => id}
      selected={get("email")}
      onSelect={({ id }) => set({ email: id })}
      empty={
        <EmptyState title={find ? `No e-mails match “${find}”` : "No e-mails yet"}>
          {!find && (
            <p>
              Connector notifications with an e-mail rule send an e-mail for each event that the rule names.
              Here, e-mails do not leave this machine.{" "}
              <ViewLink view="api" query={{ operation: "connector_notifications.test" }}>
                Open the call that sends a test e-mail
              </ViewLink>
            </p>
          )}
        </EmptyState>
      }
      pane={({ to, subject, body, at }) => (
        <DetailPane title={subject} label="E-mail" onClose={() => set({ email: undefined })}>
          <Facts facts={{ To: to, Sent: <RelativeTime at={at} /> }} />
          <p className="wire email-body">{body}</p>
        </DetailPane>
      )}
    />
  );
}
