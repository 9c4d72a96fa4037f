import { type ReactNode, useState } from "react";
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from "react-aria-components";
import { ActionButton, type Mutation } from "./button.tsx";
import { Problem } from "./notice.tsx";

interface DialogProps {
  title: string;
  isOpen?: boolean;
  onClose: () => void;
  /** Closes on Escape or a click outside; false if an answer is required. */
  isDismissable?: boolean;
  children: ReactNode;
}

export function Dialog({ title, isOpen = true, onClose, isDismissable = true, children }: DialogProps) {
  return (
    <ModalOverlay
      className="overlay"
      isOpen={isOpen}
      isDismissable={isDismissable}
      isKeyboardDismissDisabled={!isDismissable}
      onOpenChange={(open) => !open && onClose()}
    >
      <Modal className="modal">
        <AriaDialog className="dialog stack">
          <Heading slot="title">{title}</Heading>
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
}

/** `isOffered: false` hides the button; a dialog that is open stays. */
export function DialogButton(
  props: DialogButtonProps & { isOffered?: boolean; children: (close: () => void) => ReactNode },
) {
  const { children, isOffered = true, ...button } = props;
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      {isOffered && <ActionButton {...button} onPress={() => setOpen(true)} />}
      {isOpen && children(() => setOpen(false))}
    </>
  );
}

/** A button that asks before an irreversible change, and shows its error. */
export function ConfirmButton(props: {
  /** A question, such as "Delete usr_dan?". */
  title: string;
  /** Label of both buttons. */
  verb: string;
  change: Mutation<unknown>;
  look?: DialogButtonProps["look"];
  name?: string;
  /** The consequences. */
  children: ReactNode;
}) {
  const { title, verb, change, look = "danger", name, children } = props;
  return (
    <DialogButton label={`${verb} …`} look={look} name={name}>
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
