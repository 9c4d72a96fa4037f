import { type ReactNode, useState } from "react";
import { Dialog as AriaDialog, Button, Heading, Modal, ModalOverlay } from "react-aria-components";
import { toPrintableLines } from "../../engine/contract/text.ts";
import { Problem } from "./status.tsx";

export interface Mutation<T> {
  isPending: boolean;
  error: unknown;
  mutate: (input: undefined, options?: { onSuccess?: (result: T) => void }) => void;
}

export function ActionButton(props: {
  label: string;
  onPress?: () => void;
  change?: Mutation<unknown>;
  look?: "primary" | "danger" | "subtle" | "square" | "";
  /** Accessible name, if other buttons have the same label. */
  name?: string | undefined;
  isPending?: boolean;
  isDisabled?: boolean;
}) {
  const { label, change, look = "", name, isDisabled, isPending = change?.isPending ?? false } = props;
  const { onPress = () => change?.mutate(undefined) } = props;
  return (
    <Button
      className={`button ${look}`}
      aria-label={name}
      isPending={isPending}
      isDisabled={isDisabled}
      onPress={onPress}
    >
      {label}
    </Button>
  );
}

interface DialogProps {
  title: string;
  onClose: () => void;
  /** Closes on Escape or a click outside; false if an answer is required. */
  isDismissable?: boolean;
  children: ReactNode;
}

export function Dialog({ title, onClose, isDismissable = true, children }: DialogProps) {
  return (
    <ModalOverlay
      className="overlay"
      isOpen
      isDismissable={isDismissable}
      isKeyboardDismissDisabled={!isDismissable}
      onOpenChange={(open) => !open && onClose()}
    >
      <Modal className="modal">
        <AriaDialog className="dialog stack">
          <Heading slot="title">{toPrintableLines(title)}</Heading>
          {children}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}

interface DialogButtonProps {
  label: string;
  look?: "danger" | "subtle" | "";
  /** Accessible name of the button, if other buttons say the same. */
  name?: string | undefined;
  /** False hides the button; a dialog that is open stays. */
  isOffered?: boolean;
  onOpen?: () => void;
  children: (close: () => void) => ReactNode;
}

export function DialogButton(props: DialogButtonProps) {
  const { children, isOffered = true, onOpen, ...button } = props;
  const [isOpen, setOpen] = useState(false);
  const open = () => {
    onOpen?.();
    setOpen(true);
  };
  return (
    <>
      {isOffered && <ActionButton {...button} onPress={open} />}
      {isOpen && children(() => setOpen(false))}
    </>
  );
}

export function ConfirmButton(props: {
  /** A question, such as "Delete usr_dan?". */
  title: string;
  verb: string;
  change: Mutation<unknown> & { reset: () => void };
  look?: DialogButtonProps["look"];
  name?: string;
  children: ReactNode;
}) {
  const { title, verb, change, look = "danger", name, children } = props;
  return (
    <DialogButton label={`${verb} …`} look={look} name={name} onOpen={change.reset}>
      {(close) => (
        <Dialog title={title} onClose={close}>
          <p>{children}</p>
          <Problem error={change.error} />
          <div className="actions">
            <ActionButton
              label={verb}
              look="danger"
              isPending={change.isPending}
              onPress={() => change.mutate(undefined, { onSuccess: close })}
            />
            <ActionButton label="Cancel" onPress={close} />
          </div>
        </Dialog>
      )}
    </DialogButton>
  );
}
