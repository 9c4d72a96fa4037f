import { useState } from "react";
import { Button } from "react-aria-components";
import { useSandboxName } from "../../address.ts";
import { sandboxCalls } from "../../api/calls.ts";
import { Problem } from "../../parts/notice.tsx";
import { saveFile } from "../../parts/save-file.ts";

/** What was seen, as files for other tools: a browser's network panel, and `understudy replay`. */
export function Exports() {
  const sandbox = useSandboxName();
  const [error, setError] = useState<unknown>();
  const save = async (name: string, ask: () => Promise<unknown>) => {
    setError(undefined);
    try {
      saveFile(name, JSON.stringify(await ask(), null, 2));
    } catch (failure) {
      setError(failure);
    }
  };
  const calls = sandboxCalls(sandbox);
  return (
    <>
      <div className="actions">
        <Button className="button" onPress={() => save(`${sandbox}.har`, calls.archive)}>
          Export HAR
        </Button>
        <Button className="button" onPress={() => save(`${sandbox}.bundle.json`, calls.bundle)}>
          Export bundle
        </Button>
      </div>
      <Problem error={error} />
    </>
  );
}
