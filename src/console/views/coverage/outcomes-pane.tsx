import { Link } from "wouter";
import { addressOf, useSandboxName } from "../../address.ts";
import type { CoverageMatrix } from "../../api/types.ts";
import { DetailPane } from "../../parts/detail-pane.tsx";
import { Badge } from "../../parts/mark.tsx";

export type Covered = CoverageMatrix["operations"][number];

/** Each documented outcome of an operation, and what was answered besides. */
export function OutcomesPane({ covered, onClose }: { covered: Covered; onClose: () => void }) {
  const sandbox = useSandboxName();
  const { operation, method, path, outcomes, other } = covered;
  return (
    <DetailPane
      title={operation}
      label={`Outcomes of ${operation}`}
      onClose={onClose}
      actions={
        <Link className="button" href={addressOf(sandbox, "api", { operation })}>
          Try it out
        </Link>
      }
    >
      <p>
        <code>
          <strong>{method}</strong> {path}
        </code>
      </p>
      <table className="outcomes">
        <thead>
          <tr>
            <th scope="col">Status</th>
            <th scope="col">Outcome</th>
            <th scope="col" className="number">
              Seen
            </th>
          </tr>
        </thead>
        <tbody>
          {outcomes.map(({ status, code, hits }) => (
            <tr key={`${status} ${code}`}>
              <td>{status}</td>
              <td>
                <Badge outcome={hits > 0 ? "ok" : "other"}>
                  <code>{code ?? "success"}</code>
                </Badge>
              </td>
              <td className="number">{hits > 0 ? hits.toLocaleString("en-GB") : "never"}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {other.length > 0 && (
        <p className="quiet">
          Besides:{" "}
          {other
            .map(({ outcome, hits }) => `${outcome === "0" ? "no answer" : outcome} (${hits})`)
            .join(", ")}
        </p>
      )}
    </DetailPane>
  );
}
