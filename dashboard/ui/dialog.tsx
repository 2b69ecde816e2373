import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { focusMain } from "../lib/focus";
import { Button } from "./basics";

interface DialogProps {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
}

/**
 * A modal dialog of the browser's own: it keeps the focus, and Escape closes it. The focus goes back to where it was,
 * however the dialog ends: the browser does that only for one that is closed, not for one that is gone.
 */
export function Dialog({ title, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
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
    onClose();
  };
  return (
    <dialog ref={dialog} class="dialog" tabIndex={-1} aria-labelledby={id} onCancel={leave} onClose={onClose}>
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
  onConfirm: () => unknown;
  onClose: () => void;
  children: ComponentChildren;
}

/** Asks before something that can't be undone. */
export const Confirm = ({ title, action, onConfirm, onClose, children }: ConfirmProps) => (
  <Dialog title={title} onClose={onClose}>
    <div class="stack tight">{children}</div>
    <div class="row end">
      <Button onClick={onClose}>Cancel</Button>
      <Button
        kind="danger"
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
