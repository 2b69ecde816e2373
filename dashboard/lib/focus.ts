/**
 * Moves the focus to the screen where nothing has it any longer, once what is going is gone: then the next Tab begins
 * there, and a screen reader does not start over.
 */
export function focusMain(): void {
  queueMicrotask(() => {
    const { activeElement } = document;
    if (activeElement === null || activeElement === document.body)
      document.getElementById("main")?.focus({ preventScroll: true });
  });
}
