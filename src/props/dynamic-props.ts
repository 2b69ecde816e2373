import type { DescribedProp } from "../sandbox/protocol.ts";
import type { StoredProps } from "./configure.ts";
import { isSecret } from "./kinds.ts";

/** The props that a component's `additionalProps` made for the values of its other props (docs/component-api.md#additional-props). */
export interface DynamicProps {
  /** `dyp_…` */
  id: string;
  /** Those that it added to the component's own, and those of its own that it changed. */
  props: DescribedProp[];
  /** The values that they depend on, by name: those of the props with `reloadProps`. */
  inputs: Record<string, unknown>;
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Returns those of the described props that are not, or not so, among the component's own. */
export const addedProps = (own: DescribedProp[], described: DescribedProp[]): DescribedProp[] =>
  described.filter(
    prop =>
      !isSame(
        own.find(({ name }) => name === prop.name),
        prop,
      ),
  );

/** Returns the component's own props with the added ones. A secret of the component's own stays one, of the same type. */
export function withAddedProps(own: DescribedProp[], added: readonly DescribedProp[]): DescribedProp[] {
  const byName = new Map(added.map(prop => [prop.name, prop]));
  const names = new Set(own.map(({ name }) => name));
  const changed = own.map(prop => {
    const next = byName.get(prop.name) ?? prop;
    if (!isSecret(prop)) return next;
    const { type, app } = prop;
    return { ...next, type, ...(app !== undefined && { app }), ...(prop.secret && { secret: true }) };
  });
  return [...changed, ...added.filter(({ name }) => !names.has(name))];
}

/** Returns the values of the props whose change makes other props: of those with `reloadProps`, as far as they have one. */
export function inputsOf(props: DescribedProp[], values: StoredProps): Record<string, unknown> {
  const inputs = props
    .filter(({ reloadProps }) => reloadProps)
    .map(prop => [prop.name, prop.static ?? values[prop.name] ?? prop.default ?? null] as const);
  return Object.fromEntries(inputs.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Returns what the sandbox needs of a prop that was made. */
export const boundProp = ({ name, type, app, optional }: DescribedProp): DescribedProp => ({
  name,
  type,
  ...(app !== undefined && { app }),
  ...(optional !== undefined && { optional }),
});

/** Returns the name of a prop that has another value than the props were made with; null if they still hold. */
export function changedInput(
  own: DescribedProp[],
  { props, inputs }: Pick<DynamicProps, "props" | "inputs">,
  values: StoredProps,
): string | null {
  const now = inputsOf(withAddedProps(own, props), values);
  return Object.keys(now).find(name => !isSame(now[name], inputs[name])) ?? null;
}
