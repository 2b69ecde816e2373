import type { Schemas } from "../api/client";
import { type Asker, given, type Values } from "../api/configure";
import { type Edits, useEdits } from "../api/edits";
import { known, MadeState, useMadeProps } from "./made-props";
import type { KeyLink } from "./prop-fields";
import { hasField, PropForm, propLabel } from "./prop-form";

type Component = Schemas["Component"];

/** What was deployed from a component: what its form begins with. */
export interface Deployed {
  values: Values;
  /** Names of the props that have a secret. */
  secrets: string[];
  dynamicPropsId: string | null;
  dynamicProps: Schemas["ConfigurableProp"][];
}

export const NOT_DEPLOYED: Deployed = { values: {}, secrets: [], dynamicPropsId: null, dynamicProps: [] };

/** The values of a form for the props of a saved component, and what a request is made of them. */
export function useComponentForm(
  component: Component | null | undefined,
  asker: Asker,
  edits: Edits<unknown>,
  { dynamicPropsId, dynamicProps }: Deployed = NOT_DEPLOYED,
) {
  const { values, changes, set } = edits;
  const made = useMadeProps(
    component?.configurable_props ?? [],
    values,
    component?.additional_props ? asker : null,
    { id: dynamicPropsId, props: dynamicProps },
  );
  const id = made.id === null || made.id === dynamicPropsId ? {} : { dynamic_props_id: made.id };
  return {
    values,
    made,
    asker,
    set,
    labelOf: (name: string) => propLabel(made.props, name),
    /** Whether a field shows what is wrong with this path of a request. */
    isShown: (path: string) => hasField(made.props, path),
    /** The fields of a new thing. */
    whole: () => ({ configured_props: known(given(values), made.props), ...id }),
    /** The fields that differ from those before, of which null removes one. */
    changes: () => {
      const sent = known(changes, made.props);
      return { ...(Object.keys(sent).length > 0 && { configured_props: sent }), ...id };
    },
  };
}

/** The values of a new thing's form. */
export const useNewValues = (): Edits<unknown> => useEdits<unknown>(null, () => ({}));

interface FieldsProps {
  component: Component;
  form: ReturnType<typeof useComponentForm>;
  deployed?: Deployed;
  keyLink?: KeyLink | null;
  /** Faults by the name of the prop. */
  faults: Record<string, string>;
}

export const ComponentFields = ({ component, form, deployed, keyLink = null, faults }: FieldsProps) => {
  const { values, made, asker, set } = form;
  const isAction = component.type === "action";
  return (
    <>
      {isAction && made.props.length > 0 && (
        <p class="hint">A text may name values of the event, such as {"{{event.id}}"}.</p>
      )}
      <PropForm
        key={component.id}
        props={made.props}
        values={values}
        faults={faults}
        stored={deployed ? { secrets: deployed.secrets, values: deployed.values, nextTickMs: null } : null}
        remote={{
          asker,
          soFar: { values: known(given(values), made.props), dynamicPropsId: made.id },
        }}
        keyLink={keyLink}
        hasTemplates={isAction}
        onChange={set}
      />
      {component.additional_props && <MadeState made={made} />}
    </>
  );
};
