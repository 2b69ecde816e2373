import { slugOf } from "../../lib/slug.ts";

/** Room for a number behind it: a name of a file has at most 48 characters. */
const CHARS = 40;
/** Files can't be called so on Windows. */
const DEVICES = ["con", "prn", "aux", "nul", ...digits("com"), ...digits("lpt")];

/**
 * Chooses names for what another server calls somehow: lower-case letters, digits and dashes, so that they are names in the file of
 * `apply` and of files on every system, and lead nowhere else. Each is chosen once.
 */
export class Names {
  readonly #taken = new Set(DEVICES);

  /** Returns a name like the first text that has letters or digits; or else `otherwise`, without those in it that were chosen. */
  choose(texts: readonly (string | null | undefined)[], otherwise: string): string {
    const text = texts.find(one => /[a-z0-9]/i.test(one?.normalize("NFKD") ?? "")) ?? otherwise;
    const slug = slugOf(text).slice(0, CHARS).replace(/-+$/, "");
    return this.#unique(slug, number => `${slug}-${number}`);
  }

  /** Returns the name of a variable of the environment: `ORDERS_API_KEY`. */
  variable(...parts: string[]): string {
    const words = parts
      .join("_")
      .replaceAll(/[^A-Za-z0-9]+/g, "_")
      .toUpperCase();
    const name = words.replace(/^_+|_+$/g, "").slice(0, 100);
    const legal = /^[A-Z]/.test(name) ? name : `V_${name}`;
    return this.#unique(legal, number => `${legal}_${number}`);
  }

  #unique(wanted: string, numbered: (number: number) => string): string {
    let name = wanted;
    for (let number = 2; this.#taken.has(name); number += 1) name = numbered(number);
    this.#taken.add(name);
    return name;
  }
}

function digits(device: string): string[] {
  return Array.from({ length: 9 }, (_, at) => `${device}${at + 1}`);
}
