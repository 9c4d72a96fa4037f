import type { ReactNode } from "react";
import {
  Form as AriaForm,
  Button,
  FieldError,
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
  /** What the server said: shown at the field it names, and above the button. What was typed stays. */
  error?: unknown;
  onCancel?: (() => void) | undefined;
  dangerous?: boolean;
}

/** Sends by its button or Enter; refused by the server, it says so at the field that the problem names. */
export function Form({ children, submit, onSubmit, pending, error, onCancel, dangerous }: FormProps) {
  const field = error instanceof ControlError ? error.field : undefined;
  return (
    <AriaForm
      className="form"
      validationErrors={field === undefined ? {} : { [field]: (error as Error).message }}
      onSubmit={(event) => {
        event.preventDefault();
        if (!pending) onSubmit();
      }}
    >
      {children}
      <Problem error={error} />
      <div className="form-buttons">
        <Button type="submit" className={dangerous ? "button danger" : "button primary"} isPending={pending}>
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
  return (
    <TextField
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
      <FieldError className="field-error" />
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
  choices: readonly Choice[];
  hint?: ReactNode;
}

export function ChoiceField({ label, name, value, onChange, choices, hint }: ChoiceProps) {
  return (
    <Select className="field" name={name} value={value} onChange={(key) => onChange(String(key))}>
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
      <FieldError className="field-error" />
      <Popover className="popover">
        <ListBox className="choices" items={choices}>
          {({ id, title, detail }) => (
            <ListBoxItem id={id} textValue={title} className="choice">
              <Text slot="label">{title}</Text>
              {detail && (
                <Text slot="description" className="quiet small">
                  {detail}
                </Text>
              )}
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </Select>
  );
}
