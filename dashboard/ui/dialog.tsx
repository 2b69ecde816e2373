import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { focusMain } from "../lib/focus";
import { Button } from "./basics";
import { leaveThen, useUnsaved } from "./unsaved";

interface DialogProps {
  title: string;
  onClose: () => void;
  /** What it shows is never shown again: no key closes it, only its own button. */
  hasSecret?: boolean;
  /** Nothing is lost with what is typed in it. */
  isQuestion?: boolean;
  children: ComponentChildren;
}

/**
 * A modal dialog of the browser's own: it keeps the focus, and Escape closes it, after a question if something was typed. The
 * focus goes back to where it was, however the dialog ends: the browser does that only for one that is closed, not for one
 * that is gone.
 */
export function Dialog({ title, onClose, hasSecret = false, isQuestion = false, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const [isTouched, setTouched] = useState(false);
  useUnsaved((isTouched && !isQuestion) || hasSecret, hasSecret ? "It is shown only now." : undefined);
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (before instanceof HTMLElement) before.focus();
      focusMain();
    };
  }, []);
  useEffect(() => {
    // What had the focus may be gone with the content that was there before.
    if (!dialog.current?.contains(document.activeElement)) dialog.current?.focus();
  }, [title]);
  // At once: the browser's own `close` comes a moment later, and would end a dialog that was opened again by then.
  const leave = (event: Event) => {
    event.preventDefault();
    if (!hasSecret) leaveThen(onClose);
  };
  // A second Escape closes a dialog in spite of all that; it is opened again.
  const reopen = () => {
    dialog.current?.showModal();
    if (!hasSecret) leaveThen(onClose);
  };
  return (
    <dialog
      ref={dialog}
      class="dialog"
      tabIndex={-1}
      aria-labelledby={id}
      onInput={() => setTouched(true)}
      {...(hasSecret && { closedby: "none" })}
      onCancel={leave}
      onClose={reopen}
    >
      <div class="dialog-body">
        <h2 id={id}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}

interface ConfirmProps {
  title: string;
  action: string;
  /** Something in it must be done first. */
  isDisabled?: boolean;
  onConfirm: () => unknown;
  onClose: () => void;
  children: ComponentChildren;
}

/** Asks before something that can't be undone. */
export const Confirm = ({
  title,
  action,
  isDisabled = false,
  onConfirm,
  onClose,
  children,
}: ConfirmProps) => (
  <Dialog isQuestion title={title} onClose={onClose}>
    <div class="stack tight">{children}</div>
    <div class="row end">
      <Button onClick={onClose}>Cancel</Button>
      <Button
        kind="danger"
        isDisabled={isDisabled}
        onClick={async () => {
          await onConfirm();
          onClose();
        }}
      >
        {action}
      </Button>
    </div>
  </Dialog>
);
