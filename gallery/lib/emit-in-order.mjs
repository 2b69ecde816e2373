/**
 * Emits items one after the other, and hands those that were emitted to `remember`, with whether these are all. An item that can't
 * be emitted ends it with its error: that item and those behind it are new again at the next look.
 */
export function emitInOrder(items, { emit, remember }) {
  const emitted = [];
  try {
    for (const item of items) {
      emit(item);
      emitted.push(item);
    }
  } catch (error) {
    remember(emitted, false);
    throw error;
  }
  remember(emitted, true);
}

/** Returns those of these items, the oldest of which is first, that a source begins with: as many of the newest. */
export const newestOf = (items, count) => items.slice(Math.max(0, items.length - count));
