import { headwater, type Schemas } from "./client";
import { inAccount } from "./session";

export type Values = Record<string, unknown>;
export type PropOptions = Schemas["PropOptions"];
export type NextProps = Schemas["NextProps"];

/** The values of a form that a new thing is made with. */
export const given = (values: Values): Values =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined && value !== null));

/** What a form tells of itself when it asks the component's code. */
export interface SoFar {
  values: Values;
  dynamicPropsId: string | null;
}

export interface OptionsQuery {
  prop: string;
  page: number;
  context: unknown;
  query: string;
}

/** Asks the code of a component about the form that is filled in. */
export interface Asker {
  /** Lists the choices of a prop. */
  options(soFar: SoFar, query: OptionsQuery): Promise<PropOptions>;
  /** Gets the props that the values so far lead to. */
  props(soFar: SoFar): Promise<NextProps>;
  /** Asks after what was asked before: the code of an account runs in few sandboxes at a time. */
  inTurn<Result>(ask: () => Promise<Result>): Promise<Result>;
}

function turns(): Asker["inTurn"] {
  let last: Promise<unknown> = Promise.resolve();
  return ask => {
    const mine = last.then(ask);
    last = mine.catch(() => undefined);
    return mine;
  };
}

const soFarBody = ({ values, dynamicPropsId }: SoFar) => ({
  configured_props: given(values),
  ...(dynamicPropsId && { dynamic_props_id: dynamicPropsId }),
});

const optionsBody = (soFar: SoFar, { prop, page, context, query }: OptionsQuery) => ({
  ...soFarBody(soFar),
  prop_name: prop,
  page,
  ...(context !== null && { prev_context: context }),
  ...(query !== "" && { query }),
});

/** Asks with a source's own values where the form has none. */
export function askSource(id: string): Asker {
  const { sources } = headwater;
  return {
    inTurn: turns(),
    options: (soFar, query) => sources.configure(id, optionsBody(soFar, query)),
    props: soFar => sources.props(id, soFarBody(soFar)),
  };
}

/** Asks with an action's own values where the form has none. */
export function askAction(id: string): Asker {
  const { destinations } = headwater;
  return {
    inTurn: turns(),
    options: (soFar, query) => destinations.configure(id, optionsBody(soFar, query)),
    props: soFar => destinations.props(id, soFarBody(soFar)),
  };
}

/** Asks a saved component, for the account in which it is to be deployed. */
export function askComponent(id: string): Asker {
  const { components } = inAccount();
  return {
    inTurn: turns(),
    options: (soFar, query) => components.configure(id, optionsBody(soFar, query)),
    props: soFar => components.props(id, soFarBody(soFar)),
  };
}

/** Asks code that is not deployed: it is saved first, as the deploy would save it. */
export function askCode(code: string): Asker {
  const { components } = inAccount();
  let saved: Promise<string> | undefined;
  const save = async () => {
    saved ??= components.create({ component_code: code }).then(({ id }) => id);
    try {
      return await saved;
    } catch (error) {
      saved = undefined;
      throw error;
    }
  };
  return {
    inTurn: turns(),
    options: async (soFar, query) => components.configure(await save(), optionsBody(soFar, query)),
    props: async soFar => components.props(await save(), soFarBody(soFar)),
  };
}
