import { createContext, type ReactNode, useContext, useEffect, useState } from "react";
import {
  Form as AriaForm,
  Button,
  Input,
  Label,
  ListBox,
  ListBoxItem,
  Popover,
  Select,
  SelectValue,
  Text,
  TextArea,
  TextField,
} from "react-aria-components";
import { ControlError } from "../api/fetch-control.ts";
import { Problem } from "./notice.tsx";

interface FormProps {
  children: ReactNode;
  /** The word on its button, such as "Create". */
  submit: string;
  onSubmit: () => void;
  pending: boolean;
  /** Whether something that it sends has still to come from the server: until then it does not send. */
  waiting?: boolean;
  /** What the server said: shown at the field it names, and above the button. What was typed stays. */
  error?: unknown;
  onCancel?: (() => void) | undefined;
  dangerous?: boolean;
}

/** What the server said against a field, for whichever field it names. */
interface Refusal {
  field: string | undefined;
  message: string;
  /** Called by the field that shows it; else the form does. */
  claim: (field: string) => void;
}

const RefusalContext = createContext<Refusal | undefined>(undefined);

/**
 * What was said against this field, or against something within it, such as `memberships.org_acme`. It stays until
 * the next attempt, so that nothing moves under the pointer.
 */
function useRefusal(name: string): string | undefined {
  const refusal = useContext(RefusalContext);
  const field = refusal?.field;
  const isMine = field !== undefined && isWithin(field, name);
  const claim = refusal?.claim;
  useEffect(() => {
    if (isMine) claim?.(field);
  }, [isMine, claim, field]);
  return isMine ? refusal?.message : undefined;
}

function isWithin(field: string, name: string): boolean {
  return name !== "" && (field === name || field.startsWith(`${name}.`) || field.startsWith(`${name}[`));
}

/** Sends by its button or Enter; refused by the server, it says so at the field that the problem names. */
export function Form({
  children,
  submit,
  onSubmit,
  pending,
  waiting = false,
  error,
  onCancel,
  dangerous,
}: FormProps) {
  const [claimed, claim] = useState<string>();
  const field = error instanceof ControlError ? error.field : undefined;
  return (
    <AriaForm
      validationBehavior="aria"
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        if (!pending && !waiting) onSubmit();
      }}
    >
      <RefusalContext value={error ? { field, message: (error as Error).message, claim } : undefined}>
        {children}
      </RefusalContext>
      {(field === undefined || claimed !== field) && <Problem error={error} />}
      <div className="form-buttons">
        <Button
          type="submit"
          className={dangerous ? "button danger" : "button primary"}
          isPending={pending}
          isDisabled={waiting}
        >
          {submit}
        </Button>
        {onCancel && (
          <Button className="button" onPress={onCancel}>
            Cancel
          </Button>
        )}
      </div>
    </AriaForm>
  );
}

interface FieldProps {
  label: string;
  /** As the control API calls it: problems name it. */
  name: string;
  value: string;
  onChange: (value: string) => void;
  hint?: ReactNode;
  required?: boolean;
  type?: "text" | "password" | "number";
  lines?: number;
  autoFocus?: boolean;
  placeholder?: string;
}

export function Field({
  label,
  name,
  value,
  onChange,
  hint,
  required,
  type = "text",
  lines,
  autoFocus,
  placeholder,
}: FieldProps) {
  const refusal = useRefusal(name);
  return (
    <TextField
      isInvalid={refusal !== undefined}
      className="field"
      name={name}
      value={value}
      onChange={onChange}
      isRequired={required ?? false}
      type={type}
      autoFocus={autoFocus ?? false}
      autoComplete="off"
    >
      <Label>{label}</Label>
      {lines ? (
        <TextArea className="input mono" rows={lines} placeholder={placeholder} spellCheck={false} />
      ) : (
        <Input className="input" placeholder={placeholder} spellCheck={false} />
      )}
      {hint && (
        <Text slot="description" className="hint">
          {hint}
        </Text>
      )}
      {refusal && (
        <Text slot="errorMessage" className="field-error" role="alert">
          {refusal}
        </Text>
      )}
    </TextField>
  );
}

export interface Choice {
  id: string;
  title: string;
  detail?: string | undefined;
}

interface ChoiceProps {
  label: string;
  name: string;
  value: string;
  onChange: (value: string) => void;
  /** Undefined until the server has said them. */
  choices: readonly Choice[] | undefined;
  hint?: ReactNode;
}

/** One of several. Without any there is nothing to open, and it says so: a press would do nothing. */
export function ChoiceField({ label, name, value, onChange, choices, hint }: ChoiceProps) {
  const refusal = useRefusal(name);
  return (
    <Select
      isInvalid={refusal !== undefined}
      className="field"
      name={name}
      value={value}
      onChange={(key) => onChange(String(key))}
      isDisabled={!choices?.length}
      placeholder={choices === undefined ? "Loading …" : choices.length === 0 ? "There is none" : "Choose …"}
    >
      <Label>{label}</Label>
      <Button className="input select">
        <SelectValue />
        <span aria-hidden="true">▾</span>
      </Button>
      {hint && (
        <Text slot="description" className="hint">
          {hint}
        </Text>
      )}
      {refusal && (
        <Text slot="errorMessage" className="field-error" role="alert">
          {refusal}
        </Text>
      )}
      <Popover className="popover">
        <ListBox className="choices" items={choices ?? []}>
          {({ id, title, detail }) => (
            <ListBoxItem id={id} textValue={title} className="choice">
              <span>{title}</span>
              {detail && <span className="choice-detail quiet small">{detail}</span>}
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </Select>
  );
}
