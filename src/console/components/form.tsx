import { createContext, type ReactNode, useCallback, useContext, useEffect, useState } from "react";
import {
  Form as AriaForm,
  Button,
  Input,
  Label,
  ListBox,
  ListBoxItem,
  Popover,
  SearchField,
  Select,
  SelectValue,
  Text,
  TextArea,
  TextField,
} from "react-aria-components";
import { toPrintableLines } from "../../engine/contract/text.ts";
import { type Actor, NO_CREDENTIALS } from "../api/actors.ts";
import { ControlError } from "../api/fetch-control.ts";
import { ActionButton, type Mutation } from "./button.tsx";
import { revealElement } from "./layout.tsx";
import { Problem } from "./status.tsx";
import { TextWithCode } from "./text.tsx";

interface FormProps<T> {
  children: ReactNode;
  submit: string;
  /** Its error is shown at the field that it names, else above the button. The input stays. */
  change: Mutation<T>;
  /** Called after the queries were refetched. */
  onSuccess?: (result: T) => void;
  /** Disables the button while data that the form needs is loading. */
  isWaiting?: boolean;
  onCancel?: (() => void) | undefined;
  look?: "primary" | "danger";
}

/** The server's error, for the field that it names. */
interface FormError {
  field: string | undefined;
  message: string;
  /** Called by the field that shows the error; otherwise the form shows it. */
  claim: (field: string | undefined) => void;
}

const FormErrorContext = createContext<FormError | undefined>(undefined);

/**
 * The error of this field or of a part of it, such as `memberships.org_acme`. It stays until the next attempt, so that
 * the layout does not jump.
 */
function useFieldError(name: string, label: string): string | undefined {
  const formError = useContext(FormErrorContext);
  const field = formError?.field;
  const isOwnField = field !== undefined && isWithin(field, name);
  const claim = formError?.claim;
  useEffect(() => {
    if (!isOwnField) return;
    claim?.(field);
    // The form shows the error of a field that leaves the page.
    return () => claim?.(undefined);
  }, [isOwnField, claim, field]);
  return isOwnField ? renameField(formError!.message, name, label) : undefined;
}

/** The server's message about a field, with the field's label in place of its name in the control API. */
function renameField(message: string, name: string, label: string): string {
  if (!message.startsWith(`${name} `)) return message;
  const toWords = (text: string) => text.split(".").at(-1)!.replaceAll("_", " ").toLowerCase();
  return (toWords(name) === toWords(label) ? label : "This value") + message.slice(name.length);
}

function isWithin(field: string, name: string): boolean {
  return name !== "" && (field === name || field.startsWith(`${name}.`) || field.startsWith(`${name}[`));
}

/** Submits by its button or Enter, and shows the server's error at the field that it names. */
export function Form<T>(props: FormProps<T>) {
  const { submit, change, onSuccess, isWaiting = false, onCancel, look = "primary" } = props;
  const { error, isPending } = change;
  const [claimedField, claim] = useState<string>();
  const field = error instanceof ControlError ? error.field : undefined;
  return (
    <AriaForm
      validationBehavior="aria"
      className="form stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isPending && !isWaiting) change.mutate(undefined, { onSuccess });
      }}
    >
      <FormErrorContext value={error ? { field, message: (error as Error).message, claim } : undefined}>
        {props.children}
      </FormErrorContext>
      {(field === undefined || claimedField !== field) && <Problem error={error} />}
      <div className="chips form-buttons">
        <Button type="submit" className={`button ${look}`} isPending={isPending} isDisabled={isWaiting}>
          {submit}
        </Button>
        {onCancel && <ActionButton label="Cancel" onPress={onCancel} />}
      </div>
    </AriaForm>
  );
}

/**
 * Texts of a form by name. `field(name)` returns the properties of the field that edits one; `onType` sets the text
 * of the field with the given name, and is the same function in every render.
 */
export function useInputs<Name extends string>(initial: Readonly<Record<Name, string>>) {
  const [inputs, setInputs] = useState(initial);
  const changeInputs = (some: Partial<Record<Name, string>>) =>
    setInputs((before) => ({ ...before, ...some }));
  const onType = useCallback(
    ({ name }: { name: Name }, text: string) => setInputs((before) => ({ ...before, [name]: text })),
    [],
  );
  const field = (name: Name) => ({
    name,
    value: inputs[name],
    onChange: (text: string) => onType({ name }, text),
  });
  return { inputs, field, changeInputs, onType };
}

interface FieldProps {
  label: string;
  /** Name by which errors refer to the field; empty if none does, or if another field shows them. */
  name: string;
  value: string;
  onChange: (value: string) => void;
  hint?: ReactNode;
}

interface TextProps extends FieldProps {
  required?: boolean;
  type?: "text" | "password";
  lines?: number;
  autoFocus?: boolean;
  placeholder?: string;
}

export function Field(props: TextProps) {
  const { label, name, value, onChange, hint, required = false, type = "text", lines, placeholder } = props;
  const fieldError = useFieldError(name, label);
  return (
    <TextField
      isInvalid={fieldError !== undefined}
      className="field"
      name={name}
      value={value}
      onChange={onChange}
      isRequired={required}
      type={type}
      autoFocus={props.autoFocus}
      autoComplete="off"
    >
      <Label>{label}</Label>
      {lines ? (
        <TextArea className="input" rows={lines} placeholder={placeholder} spellCheck={false} />
      ) : (
        <Input className="input" placeholder={placeholder} spellCheck={false} />
      )}
      <FieldTexts hint={hint} fieldError={fieldError} />
    </TextField>
  );
}

function FieldTexts({ hint, fieldError }: { hint: ReactNode; fieldError: string | undefined }) {
  return (
    <>
      {hint && (
        <Text slot="description" className="quiet small">
          {typeof hint === "string" ? <TextWithCode>{hint}</TextWithCode> : hint}
        </Text>
      )}
      {fieldError && (
        <Text slot="errorMessage" className="field-error" role="alert" ref={revealElement}>
          <TextWithCode>{toPrintableLines(fieldError)}</TextWithCode>
        </Text>
      )}
    </>
  );
}

export function FilterField(props: {
  label: string;
  placeholder: string;
  /** Shown as a tooltip. */
  hint?: string;
  value: string;
  onChange: (text: string) => void;
}) {
  const { label, placeholder, hint, value, onChange } = props;
  return (
    <SearchField className="field filter" aria-label={label} value={value} onChange={onChange}>
      <Input className="input" placeholder={placeholder} title={hint} />
    </SearchField>
  );
}

export interface Choice {
  id: string;
  title: string;
  detail?: string | undefined;
}

export function ChoiceItem({ id, title, detail }: Choice) {
  return (
    <ListBoxItem id={id} textValue={title} className="choice flow">
      <span>{title}</span>
      {detail && <span className="choice-detail quiet small">{toPrintableLines(detail)}</span>}
    </ListBoxItem>
  );
}

export function ChoicePopover({ choices }: { choices: readonly Choice[] }) {
  return (
    <Popover className="popover">
      <ListBox className="choices" items={choices}>
        {ChoiceItem}
      </ListBox>
    </Popover>
  );
}

interface ChoiceProps extends FieldProps {
  /** Undefined while loading. */
  choices: readonly Choice[] | undefined;
}

/** A select. It is disabled while there are no choices. */
export function ChoiceField({ label, name, value, onChange, choices, hint }: ChoiceProps) {
  const fieldError = useFieldError(name, label);
  return (
    <Select
      isInvalid={fieldError !== undefined}
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
      <FieldTexts hint={hint} fieldError={fieldError} />
      <ChoicePopover choices={choices ?? []} />
    </Select>
  );
}

/** Selects the calling user by one of their keys, or a call without credentials. */
export function ActorField(props: {
  /** Undefined while loading. */
  actors: readonly Actor[] | undefined;
  value: string;
  onChange: (id: string) => void;
  label?: string;
  allowAnonymous?: boolean;
}) {
  const { actors, label = "Call as", allowAnonymous = true, ...field } = props;
  const choices = actors?.map(({ id, user_id, user, role, current, unusableReason }): Choice => {
    const title = `${user?.name ?? user_id}, ${id}${unusableReason ? ` (${unusableReason})` : ""}`;
    return { id, title, detail: role ? `${role} of ${current}` : current };
  });
  if (allowAnonymous) choices?.push({ id: NO_CREDENTIALS, title: "No credentials" });
  // Without credentials also as a user whose key was deleted.
  const value = actors?.some(({ id }) => id === field.value) ? field.value : NO_CREDENTIALS;
  return <ChoiceField {...field} value={value} label={label} name="as" choices={choices} />;
}
