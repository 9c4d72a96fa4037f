import { expect, it } from "vitest";
import { useReference } from "../support/use-reference.ts";

const api = useReference();

it.each([
  ["is_active", "true", ["True", "TRUE"]],
  ["is_active", "false", ["False"]],
  ["depth", "1", ["1.0", "01", "1e0"]],
])("a filter of records finds %s=%s also as %j [interfaces 4]", async (field, value, spellings) => {
  const list = async (text: string) => {
    const { status, body } = await api.call(
      undefined,
      "GET",
      `/_control/sandboxes/default/state/departments?${field}=${text}`,
    );
    return [status, body.total];
  };
  const found = await list(value);
  expect(found).toEqual([200, expect.any(Number)]);
  expect(found[1]).toBeGreaterThan(0);
  for (const text of spellings) expect([text, await list(text)]).toEqual([text, found]);
  for (const text of ["yes", "", "7"]) expect(await list(text)).toEqual([200, 0]);
});
