import { QueryClientProvider } from "@tanstack/react-query";
import { Component, type ReactNode, Suspense, useState } from "react";
import { I18nProvider } from "react-aria-components";
import { Redirect, Route, Router, Switch, useParams } from "wouter";
import { CONSOLE_BASE, toAddress } from "./address.ts";
import { createQueryClient } from "./api/queries.ts";
import { ActionButton } from "./components/button.tsx";
import { EmptyState, Loading, Notice } from "./components/status.tsx";
import { FollowSandbox } from "./live/use-live.tsx";
import { Login } from "./shell/login.tsx";
import { Shell } from "./shell/shell.tsx";
import { findComponent, HOME, VIEWS } from "./views/index.ts";

export function App() {
  const [queries] = useState(createQueryClient);
  return (
    <I18nProvider locale="en-GB">
      <QueryClientProvider client={queries}>
        <Login />
        <Router base={CONSOLE_BASE}>
          <Switch>
            <Route path="/s/:sandbox/:view?/*?" component={SandboxView} />
            <Route>
              <Redirect to={toAddress("default", HOME.id)} replace />
            </Route>
          </Switch>
        </Router>
      </QueryClientProvider>
    </I18nProvider>
  );
}

function SandboxView() {
  const {
    sandbox,
    view = HOME.id,
    "*": rest,
  } = useParams<{ sandbox: string; view?: string; "*"?: string }>();
  const id = rest ? `${view}/${rest}` : view;
  const ViewComponent = findComponent(id);
  return (
    <FollowSandbox key={sandbox} name={sandbox}>
      <Shell view={VIEWS.find((one) => one.id === id)}>
        <ErrorBoundary key={id}>
          <Suspense fallback={<Loading />}>
            {ViewComponent ? (
              <ViewComponent />
            ) : (
              <EmptyState title={`No view “${id}”`}>Choose a view from the navigation.</EmptyState>
            )}
          </Suspense>
        </ErrorBoundary>
      </Shell>
    </FollowSandbox>
  );
}

/** Shows the error of a view that throws; the other views stay usable. */
class ErrorBoundary extends Component<{ children: ReactNode }, { error: Error | undefined }> {
  override state: { error: Error | undefined } = { error: undefined };

  static getDerivedStateFromError(error: Error) {
    return { error };
  }

  override render() {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return (
      <Notice outcome="failed" action={<ActionButton label="Reload" onPress={() => location.reload()} />}>
        This view failed: {error.message}. Reload the page; the server may have been updated.
      </Notice>
    );
  }
}
