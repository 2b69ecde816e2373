import { hash } from "node:crypto";

/** A number in [0, 1) that depends on nothing but these words, so that it is the same in each run with the same seed. */
export function shareOf(...words: (string | number)[]): number {
  return Number.parseInt(hash("sha256", words.join("\n")).slice(0, 12), 16) / 16 ** 12;
}

/** Random choices that a seed repeats (mulberry32). */
export class SeededRandom {
  readonly #seed: string;
  #state: number;

  constructor(seed: string | number) {
    this.#seed = String(seed);
    this.#state = Math.floor(shareOf(this.#seed) * 2 ** 32);
  }

  /** A sequence of its own: what one part of the soak draws never changes what another part draws. */
  stream(name: string): SeededRandom {
    return new SeededRandom(`${this.#seed}/${name}`);
  }

  /** In [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number, both ends included. */
  between(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  chance(share: number): boolean {
    return this.next() < share;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.between(0, list.length - 1)] as T;
  }
}
