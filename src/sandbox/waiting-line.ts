/** What someone in line wants: a place for this key, on the account of this owner. */
export interface Claim {
  key: string;
  owner: string;
}

export interface WaitingLine<T extends Claim> {
  enter(claim: T): void;
  /** False when it was not in line any more. */
  leave(claim: T): boolean;
  /** Of those who may be served, the first of the owner with the smallest load; of equal owners, who came first. */
  next(mayServe: (claim: T) => boolean, loadOf: (owner: string) => number): T | undefined;
  count(isMeant: (claim: T) => boolean): number;
  clear(): T[];
  size(): number;
}

export function createWaitingLine<T extends Claim>(): WaitingLine<T> {
  // Sets keep the order of arrival.
  const waiting = new Set<T>();
  return {
    enter: claim => void waiting.add(claim),
    leave: claim => waiting.delete(claim),
    next(mayServe, loadOf) {
      let best: T | undefined;
      let bestLoad = Number.POSITIVE_INFINITY;
      for (const claim of waiting) {
        const load = loadOf(claim.owner);
        if (load >= bestLoad || !mayServe(claim)) continue;
        [best, bestLoad] = [claim, load];
        if (load === 0) break;
      }
      return best;
    },
    count: isMeant => [...waiting].filter(isMeant).length,
    clear() {
      const all = [...waiting];
      waiting.clear();
      return all;
    },
    size: () => waiting.size,
  };
}
