import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { server } from "../api/calls.ts";
import { fetchControl } from "../api/fetch-control.ts";
import { toInputError } from "../api/form-fields.ts";
import { saveToken, tokenRequest } from "../api/store.ts";
import { Dialog } from "../components/button.tsx";
import { Field, Form } from "../components/form.tsx";

/** Characters that no header can contain, such as the ellipsis of a shortened token. */
const NOT_IN_TOKENS = /[^ -ÿ]/;

/** Asks for the control token of a shared server, above the current page. */
export function Login() {
  const reason = tokenRequest.use();
  const [typed, setTyped] = useState("");
  const login = useMutation({
    mutationFn: async () => {
      const token = typed.trim();
      if (NOT_IN_TOKENS.test(token))
        throw toInputError(
          "token",
          "This text contains a character that no token has, such as “…”. Copy the whole token again.",
        );
      await fetchControl("/_control/health", { headers: { authorization: `Bearer ${token}` } });
      saveToken(token);
      setTyped("");
    },
    onSuccess: (_data, _input, _result, { client }) => void client.invalidateQueries(),
  });
  if (reason === null) return null;
  return (
    <Dialog title="Log in to this server" onClose={() => {}} isDismissable={false}>
      <Form submit="Log in" change={login}>
        {login.error === null && <p className="quiet">{reason}</p>}
        <Field
          label="Control token"
          name="token"
          type="password"
          value={typed}
          onChange={setTyped}
          required
          autoFocus
          hint="The server’s UNDERSTUDY_TOKEN; without one, the server prints a token when it starts. The browser stores it for this tab only."
        />
      </Form>
    </Dialog>
  );
}

/** Removes the one-time code of a login link from the address, and logs in with it. */
export async function followLoginLink(): Promise<void> {
  const code = /^#login=([\w-]+)$/.exec(location.hash)?.[1];
  if (code === undefined) return;
  history.replaceState(null, "", location.pathname + location.search);
  const { token } = await server.login(code).catch(() => ({ token: undefined }));
  if (token !== undefined) saveToken(token);
}
