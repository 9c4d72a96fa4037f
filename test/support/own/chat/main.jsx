import { useCallback, useEffect, useState } from "react";
import { createRoot } from "react-dom/client";

/** A chat that uses the endpoints of docs/examples/service-frontend. */
const parameters = new URLSearchParams(location.search);

/** @throws Error with a message for the user */
async function call(method, path, body) {
  const answer = await fetch(parameters.get("api") + path, {
    method,
    headers: { "api-key": parameters.get("key"), ...(body && { "content-type": "application/json" }) },
    body: body && JSON.stringify(body),
    signal: AbortSignal.timeout(3000),
  }).catch(() => {
    throw new Error("The service does not answer.");
  });
  const found = await answer.json().catch(() => {
    throw new Error("The answer of the service cannot be read.");
  });
  if (!answer.ok) throw new Error(found.error?.message ?? `The service refuses (${answer.status}).`);
  return found;
}

/** Loads a path. Returns its value, its error, and a function that loads it again. */
function useLoaded(path) {
  const [state, setState] = useState({});
  const load = useCallback(() => {
    if (path === undefined) return;
    call("GET", path).then(
      (value) => setState({ value }),
      (error) => setState((before) => ({ ...before, failure: error.message })),
    );
  }, [path]);
  useEffect(load, [load]);
  return { ...state, load };
}

function Failure({ text, onRetry }) {
  if (text === undefined) return null;
  return (
    <p role="alert">
      {text}{" "}
      <button type="button" onClick={onRetry}>
        Try again
      </button>
    </p>
  );
}

/** A form that sends a text and keeps it until the service has accepted it. */
function Writer({ label, verb, send }) {
  const [text, setText] = useState("");
  const [failure, setFailure] = useState();
  const submit = async () => {
    setFailure(undefined);
    try {
      await send(text);
      setText("");
    } catch (error) {
      setFailure(error.message);
    }
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <label>
        {label} <input value={text} onChange={({ target }) => setText(target.value)} />
      </label>
      <button type="submit">{verb}</button>
      <Failure text={failure} onRetry={submit} />
    </form>
  );
}

function Messages({ thread }) {
  const path = `/v1/threads/${thread.id}/messages`;
  const { value, failure, load } = useLoaded(path);
  return (
    <section aria-label={thread.title}>
      <Failure text={failure} onRetry={load} />
      <ol>
        {value?.data.map(({ id, content }) => (
          <li key={id}>{content}</li>
        ))}
      </ol>
      <Writer
        label="Message"
        verb="Send"
        send={async (content) => {
          await call("POST", path, { content });
          load();
        }}
      />
    </section>
  );
}

function Chat() {
  const me = useLoaded("/v1/me");
  const threads = useLoaded("/v1/threads");
  const [chosen, setChosen] = useState();
  return (
    <main>
      <h1>{me.value ? `Threads of ${me.value.name}` : "Threads"}</h1>
      <Failure text={me.failure} onRetry={me.load} />
      <Failure text={threads.failure} onRetry={threads.load} />
      <ul aria-label="Threads">
        {threads.value?.data.map((thread) => (
          <li key={thread.id}>
            <button type="button" onClick={() => setChosen(thread)}>
              {thread.title}
            </button>
          </li>
        ))}
      </ul>
      <Writer
        label="New thread"
        verb="Begin"
        send={async (title) => {
          setChosen(await call("POST", "/v1/threads", { title }));
          threads.load();
        }}
      />
      {chosen && <Messages key={chosen.id} thread={chosen} />}
    </main>
  );
}

createRoot(document.getElementById("root")).render(<Chat />);
