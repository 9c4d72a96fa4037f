import { useState } from "react";
import type { FaultRule } from "../../../../types/control-api.ts";
import { useSandboxName } from "../../address.ts";
import { ActionButton } from "../../components/button.tsx";
import { Dialog, DialogButton } from "../../components/dialog.tsx";
import { Field } from "../../components/form.tsx";
import { CopyButton, downloadFile } from "../../components/text.tsx";
import { toDefinition } from "./rules.ts";
import { toYaml } from "./to-yaml.ts";

/** Offers the armed rules as a scenario file. */
export function SaveScenario({ rules }: { rules: readonly FaultRule[] }) {
  return (
    <DialogButton label="Save as scenario …" look="subtle">
      {(close) => <ScenarioDialog rules={rules} onClose={close} />}
    </DialogButton>
  );
}

function ScenarioDialog({ rules, onClose }: { rules: readonly FaultRule[]; onClose: () => void }) {
  const [name, setName] = useState(`${useSandboxName()}-rules`);
  const text = toYaml({ name: name.trim(), rules: rules.map(toDefinition) });
  const file = `${name.trim()}.yaml`;
  return (
    <Dialog title="Save as scenario" onClose={onClose}>
      <p>
        Save this file in your scenarios folder, by default <code>./scenarios</code>. It then appears in the
        list, and <code>understudy suite</code> can run it.
      </p>
      <Field label="Name" name="name" value={name} onChange={setName} autoFocus required />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keyboards can scroll a long file */}
      <pre className="wire body" tabIndex={0}>
        {text}
      </pre>
      <div className="actions">
        <ActionButton
          label="Download"
          look="primary"
          isDisabled={name.trim() === ""}
          onPress={() => downloadFile(file, new Blob([text], { type: "application/yaml" }))}
        />
        <CopyButton text={text} />
        <ActionButton label="Close" onPress={onClose} />
      </div>
    </Dialog>
  );
}
