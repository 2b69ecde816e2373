/** Something that is opened at its first use and then kept. */
export interface OpenedOnce<T> {
  /** Opens it, or returns what is open. A failure is forgotten, so that the next use tries again. */
  get(): Promise<T>;
  /** Returns what is open or being opened; undefined if it has not been used, or could not be opened. */
  current(): Promise<T> | undefined;
}

/** Returns `open` as something that is opened at most once, however many callers use it at once. */
export function openOnce<T>(open: () => Promise<T>): OpenedOnce<T> {
  let opened: Promise<T> | undefined;
  return {
    get() {
      if (opened) return opened;
      const opening = open();
      opened = opening;
      opening.catch(() => {
        if (opened === opening) opened = undefined;
      });
      return opening;
    },
    current: () => opened,
  };
}
