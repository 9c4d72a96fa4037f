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
import type { Actor } from "../api/actors.ts";
import { ControlError } from "../api/fetch-control.ts";
import { Problem } from "./notice.tsx";

interface FormProps {
  children: ReactNode;
  /** Label of the button, such as "Create". */
  submit: string;
  onSubmit: () => void;
  pending: boolean;
  /** Disables the button while data that the form needs is loading. */
  waiting?: boolean;
  /** Shown at the field that the error names, else above the button. The input stays. */
  error?: unknown;
  onCancel?: (() => void) | undefined;
  dangerous?: boolean;
}

/** The server's error, for the field that it names. */
interface Refusal {
  field: string | undefined;
  message: string;
  /** Called by the field that shows the error; otherwise the form shows it. */
  claim: (field: string) => void;
}

const RefusalContext = createContext<Refusal | undefined>(undefined);

/**
 * The error of this field or of a part of it, such as `memberships.org_acme`. It stays until the next attempt, so that
 * the layout does not jump.
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

/** Submits by its button or Enter, and shows the server's error at the field that it names. */
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
  /** Name in the control API; errors refer to it. */
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
  /** Undefined while loading. */
  choices: readonly Choice[] | undefined;
  hint?: ReactNode;
}

/** A select. It is disabled while there are no choices. */
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
      placeholder={choices === undefined ? "Loading …" : choices.length === 0 ? "None available" : "Choose …"}
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

/** A call without credentials. */
export const NO_CREDENTIALS = "none";

/** Selects the calling user by one of their keys, or a call without credentials. */
export function ActorField({
  actors,
  value,
  onChange,
  label = "As",
  allowAnonymous = true,
}: {
  /** Undefined while loading. */
  actors: readonly Actor[] | undefined;
  value: string;
  onChange: (id: string) => void;
  label?: string;
  /** Also offers a call without credentials. */
  allowAnonymous?: boolean;
}) {
  const choices = actors?.map(({ id, name, role, organization, unusable }) => ({
    id,
    title: name,
    detail: [role ? `${role} of ${organization}` : organization, id, unusable].filter(Boolean).join(", "),
  }));
  return (
    <ChoiceField
      label={label}
      name="as"
      value={value}
      onChange={onChange}
      choices={
        choices && allowAnonymous ? [...choices, { id: NO_CREDENTIALS, title: "No credentials" }] : choices
      }
    />
  );
}
