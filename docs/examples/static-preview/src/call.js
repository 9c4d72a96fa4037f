/** Calls the API. @throws Error with the refusal's words */
export async function call(method, path, body) {
  const answer = await fetch(path, {
    method,
    ...(body && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  const found = text === "" ? undefined : JSON.parse(text);
  if (!answer.ok) throw new Error(`${answer.status} ${found?.error?.code}: ${found?.error?.message}`);
  return found;
}
