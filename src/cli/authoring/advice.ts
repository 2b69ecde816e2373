import type { Schemas } from "../../../clients/typescript/src/index.ts";

type Described = NonNullable<Schemas["DescribedCode"]["component"]>;

/** Returns what others would miss in a component that can be saved, one line each: others find, understand and try it by that. */
export function adviceOn(component: Described): string[] {
  const { configurable_props: props, hooks } = component;
  const has = (type: string) => props.some(prop => prop.type === type);
  const unnamed = props.filter(
    ({ label, type, hidden }) =>
      label === undefined && hidden !== true && !/^\$\.(interface\.http|service)/.test(type),
  );
  const open = props.filter(
    ({ name, secret, type }) =>
      type === "string" && secret !== true && /token|secret|password|(api|private)_?key$/i.test(name),
  );
  const advice: [boolean, string][] = [
    [component.key === null, "key: is missing; others find the component by it"],
    [!/^\d+\.\d+\.\d+/.test(component.version), `version: ${component.version} is not like 1.0.0`],
    [component.description === null, "description: is missing; a sentence that says what it does"],
    [
      component.type === "source" && !component.sample_emit,
      "sampleEmit: is missing; an event to try listeners with",
    ],
    [
      hooks.includes("activate") && !hooks.includes("deactivate"),
      "hooks.deactivate: is missing; it undoes what activate made",
    ],
    [
      has("$.interface.timer") && component.dedupe === null,
      "dedupe: is missing; what a timer finds again is emitted again",
    ],
    ...unnamed.map(({ name }): [boolean, string] => [true, `props.${name}: has no label`]),
    ...open.map(({ name }): [boolean, string] => [
      true,
      `props.${name}: is not secret: true, and would be shown`,
    ]),
  ];
  return advice.flatMap(([isGiven, text]) => (isGiven ? [text] : []));
}
