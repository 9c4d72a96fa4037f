import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { server } from "../api/calls.ts";
import { fetchControl } from "../api/fetch-control.ts";
import { keepToken, useTokenState } from "../api/token.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Field, Form } from "../parts/form.tsx";

/** Asks for the control token of a shared server, over whatever is on the page, which stays as it is. */
export function Login() {
  const { asked } = useTokenState();
  const [typed, setTyped] = useState("");
  const login = useMutation({
    mutationFn: async (token: string) => {
      await fetchControl("/_control/health", { headers: { authorization: `Bearer ${token}` } });
      return token;
    },
    onSuccess: (token, _input, _result, { client }) => {
      keepToken(token);
      setTyped("");
      void client.invalidateQueries();
    },
  });
  return (
    <Dialog title="This server is shared" isOpen={asked !== null} onClose={() => {}} dismissable={false}>
      <Form
        submit="Log in"
        pending={login.isPending}
        error={login.error}
        onSubmit={() => login.mutate(typed.trim())}
      >
        {login.error === null && <p className="quiet">{asked}</p>}
        <Field
          label="Control token"
          name="token"
          type="password"
          value={typed}
          onChange={setTyped}
          required
          autoFocus
          hint="Kept for this tab alone."
        />
      </Form>
    </Dialog>
  );
}

/** Uses the one-time code of a login link, which leaves the address before anything else happens. */
export async function followLoginLink(): Promise<void> {
  const code = /^#login=([\w-]+)$/.exec(location.hash)?.[1];
  if (code === undefined) return;
  history.replaceState(null, "", location.pathname + location.search);
  const { token } = await server.login(code).catch(() => ({ token: undefined }));
  if (token !== undefined) keepToken(token);
}
