/** Which numbers of each key are in use. */
const taken = new Map<string, Set<number>>();

/**
 * Takes the lowest free number of a key, and returns it with the function that frees it. Calls under one name must not
 * overlap in the sandbox's pool, so each call of an action under way has a number of its own; the lowest, so that few
 * processes stay warm.
 */
export function takeSeat(key: string): { seat: number; leave: () => void } {
  const seats = taken.get(key) ?? new Set();
  taken.set(key, seats);
  let seat = 0;
  while (seats.has(seat)) seat += 1;
  seats.add(seat);
  return {
    seat,
    leave() {
      seats.delete(seat);
      if (seats.size === 0) taken.delete(key);
    },
  };
}
