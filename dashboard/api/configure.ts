import { http, readData, type Schemas } from "./client";
import { inAccount } from "./session";

export type Values = Record<string, unknown>;
export type PropOptions = Schemas["PropOptions"];
export type NextProps = Schemas["NextProps"];

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
  configured_props: Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined && value !== null),
  ),
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
  const params = { path: { id } };
  return {
    inTurn: turns(),
    options: (soFar, query) =>
      readData(http.POST("/sources/{id}/configure", { params, body: optionsBody(soFar, query) })),
    props: soFar => readData(http.POST("/sources/{id}/props", { params, body: soFarBody(soFar) })),
  };
}

/** Asks code that is not deployed: it is saved first, as the deploy would save it. */
export function askCode(code: string): Asker {
  let saved: Promise<string> | undefined;
  const params = async () => {
    saved ??= readData(
      http.POST("/components", { body: { component_code: code, ...inAccount() } as never }),
    ).then(({ id }) => id);
    try {
      return { path: { id: await saved }, query: inAccount() as object };
    } catch (error) {
      saved = undefined;
      throw error;
    }
  };
  return {
    inTurn: turns(),
    options: async (soFar, query) =>
      readData(
        http.POST("/components/{id}/configure", { params: await params(), body: optionsBody(soFar, query) }),
      ),
    props: async soFar =>
      readData(http.POST("/components/{id}/props", { params: await params(), body: soFarBody(soFar) })),
  };
}
