import { QueryClientProvider } from "@tanstack/react-query";
import { Suspense, useState } from "react";
import { I18nProvider } from "react-aria-components";
import { Redirect, Route, Router, Switch, useParams } from "wouter";
import { addressOf, BASE } from "./address.ts";
import { createQueries } from "./api/queries.ts";
import { FollowSandbox } from "./live/use-live.tsx";
import { Nothing } from "./parts/notice.tsx";
import { Crash } from "./shell/crash.tsx";
import { Login } from "./shell/login.tsx";
import { Shell } from "./shell/shell.tsx";
import { componentOf } from "./views/components.ts";
import { HOME, VIEWS } from "./views/index.ts";

export function App() {
  const [queries] = useState(createQueries);
  return (
    <I18nProvider locale="en-GB">
      <QueryClientProvider client={queries}>
        <Login />
        <Router base={BASE}>
          <Switch>
            <Route path="/s/:sandbox/:view?" component={SandboxView} />
            <Route>
              <Redirect to={addressOf("default", HOME.id)} replace />
            </Route>
          </Switch>
        </Router>
      </QueryClientProvider>
    </I18nProvider>
  );
}

function SandboxView() {
  const { sandbox, view: id = HOME.id } = useParams<{ sandbox: string; view?: string }>();
  const view = VIEWS.find((one) => one.id === id);
  const Component = componentOf(id);
  return (
    <FollowSandbox key={sandbox} name={sandbox}>
      <Shell view={view}>
        <Crash key={id}>
          <Suspense fallback={<p className="loading quiet">Loading …</p>}>
            {Component ? (
              <Component />
            ) : (
              <Nothing title={`There is no view ${id}.`}>Choose one on the left.</Nothing>
            )}
          </Suspense>
        </Crash>
      </Shell>
    </FollowSandbox>
  );
}
