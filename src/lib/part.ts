import { ALPHABET } from "./ids.ts";

/** One of several equal parts of something that has ids or numbers. */
export interface Part {
  /** From 0. */
  index: number;
  /** How many parts there are. */
  of: number;
}

export const WHOLE: Part = { index: 0, of: 1 };

/** True if what has this number is in the part. */
export const hasNumber = ({ index, of }: Part, number: number): boolean => number % of === index;

/** True if the id is in the part, one of no more than 62: its last character decides, which is random in each that we make. */
export const hasId = (part: Part, id: string): boolean =>
  hasNumber(part, Math.max(0, ALPHABET.indexOf(id.at(-1) ?? "")));

/** Returns what a query of MongoDB demands of the ids of a part, as `hasId`; nothing for the whole. */
export function ofPart(part: Part): { $regex?: string } {
  if (part.of === 1) return {};
  const others = [...ALPHABET].filter((_, number) => !hasNumber(part, number)).join("");
  if (part.index === 0) return { $regex: `[^${others}]$` };
  const own = [...ALPHABET].filter((_, number) => hasNumber(part, number)).join("");
  return { $regex: `[${own}]$` };
}
