/** For how long after it was last seen an account counts as present. Milliseconds. */
const PRESENT_MS = 2000;

/** Whether an account shares something with others at the moment: alone, it may use all of it. */
export class Company {
  #last = "";
  /** Until when an account other than `#last` counts as present. */
  #othersUntil = 0;

  /** Notes that an account is here now. */
  note(account: string): void {
    if (account === this.#last) return;
    if (this.#last !== "") this.#othersUntil = performance.now() + PRESENT_MS;
    this.#last = account;
  }

  /** True if only one account was here lately. */
  get isOne(): boolean {
    return performance.now() >= this.#othersUntil;
  }
}
