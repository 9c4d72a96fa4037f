import { useEffect, useState } from "react";
import { call } from "./call.js";

/** What the organization and its API keys may spend, and have spent. */
export function Limits() {
  const [limits, setLimits] = useState();
  const [refusal, setRefusal] = useState("");
  useEffect(() => {
    call("GET", "/v1/analytics/usage/limits/org_acme").then(setLimits, ({ message }) => setRefusal(message));
  }, []);
  const row = (name, { monthly_limit, current_usage, status }) => (
    <tr key={name}>
      <td>{name}</td>
      <td>{current_usage}</td>
      <td>{monthly_limit ?? "no limit"}</td>
      <td>{status}</td>
    </tr>
  );
  return (
    <section>
      <h2>Limits</h2>
      {limits && (
        <table>
          <thead>
            <tr>
              <th>Name</th>
              <th>Spent</th>
              <th>Limit</th>
              <th>Status</th>
            </tr>
          </thead>
          <tbody>
            {row("Organization", limits.organization_limits)}
            {limits.api_key_limits.map((key) => row(key.api_key_name, key))}
          </tbody>
        </table>
      )}
      <p role="alert">{refusal}</p>
    </section>
  );
}
