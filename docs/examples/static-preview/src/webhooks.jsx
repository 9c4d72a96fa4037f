import { useCallback, useEffect, useState } from "react";
import { call } from "./call.js";

/** A webhook whose receiver fails twice; the clock brings the retries. */
export function Webhooks({ sandbox }) {
  const [webhooks, setWebhooks] = useState([]);
  const [deliveries, setDeliveries] = useState([]);
  const load = useCallback(async () => {
    const { data } = await call("GET", "/webhooks");
    setWebhooks(data);
    const { items } = await sandbox.deliveries.list();
    setDeliveries(items);
  }, [sandbox]);
  useEffect(() => void load(), [load]);
  const add = async () => {
    const { url } = await sandbox.receivers.add({ answers: [500, 500, 200] });
    await call("POST", "/webhooks", { url, events: ["user.created"] });
    await sandbox.events.trigger("user.created");
    await load();
  };
  const advance = async () => {
    const waiting = deliveries.find(({ next_retry }) => next_retry !== null && next_retry !== undefined);
    if (waiting) await sandbox.clock.advance({ to: waiting.next_retry });
    await load();
  };
  return (
    <section>
      <h2>Webhooks</h2>
      <button type="button" onClick={add}>
        Add a receiver that fails twice
      </button>{" "}
      <button type="button" onClick={advance}>
        To the next retry
      </button>
      <p>{webhooks.length} webhooks</p>
      <table>
        <thead>
          <tr>
            <th>Event</th>
            <th>Status</th>
            <th>Attempts</th>
          </tr>
        </thead>
        <tbody>
          {deliveries.map(({ delivery_id, event, status, attempts }) => (
            <tr key={delivery_id}>
              <td>{event}</td>
              <td>{status}</td>
              <td>{attempts}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
