import { LIMITS } from "../../limits/catalogue.ts";

/** Returns the choices of a list in any of the shapes that components use, those that can't be shown left out. */
export function readOptions(listed: unknown): { label: string; value: unknown }[] {
  if (!Array.isArray(listed)) return [];
  return listed.slice(0, LIMITS.optionsListed.value).flatMap(option => {
    const isPair = typeof option === "object" && option !== null && "value" in option;
    const { label, value } = isPair ? (option as { label?: unknown; value: unknown }) : { value: option };
    return value === undefined || value === null ? [] : [{ label: textOf(label ?? value), value }];
  });
}

const textOf = (value: unknown): string =>
  typeof value === "object" ? JSON.stringify(value) : String(value);
