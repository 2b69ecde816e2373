/** Returns where the cases of a component are: `orders.cases.json` beside `orders.mjs`. */
export const casesPathOf = (component: string): string =>
  component.replace(/(?:\.[cm]?[jt]sx?)?$/, ".cases.json");
