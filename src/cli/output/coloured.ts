import { styleText } from "node:util";

/** Returns a text in a colour if the standard output is a terminal that has colours; NO_COLOR takes them away. */
export const coloured = (style: Parameters<typeof styleText>[0], text: string): string =>
  process.stdout.isTTY && process.stdout.hasColors() ? styleText(style, text) : text;
