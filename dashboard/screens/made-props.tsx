import { useEffect, useRef, useState } from "preact/hooks";
import { messageOf, type Schemas } from "../api/client";
import type { Asker, Values } from "../api/configure";
import { Button, Notice } from "../ui/basics";

type Prop = Schemas["ConfigurableProp"];

/** After the last change of a value, before the code is asked: each time counts as a run. */
const PAUSE_MS = 500;

interface Made {
  id: string | null;
  props: Prop[];
}

export interface MadeProps {
  /** All props of the form: the component's own, with those that its code made. */
  props: Prop[];
  /** What the source is deployed with; null if the code was not asked. */
  id: string | null;
  isAsking: boolean;
  /** Why the code could not be asked, or what it threw. */
  fault: string;
  /** Asks now. */
  ask: () => void;
}

const isReloading = (prop: Prop): boolean => (prop as { reload_props?: unknown }).reload_props === true;

const inputsOf = (props: Prop[], values: Values): string =>
  JSON.stringify(
    props.filter(isReloading).map(({ name, default: initial }) => [name, values[name] ?? initial ?? null]),
  );

/** Returns the component's own props with those that its `additionalProps` made, which come last. */
function withMade(own: Prop[], made: Prop[]): Prop[] {
  const byName = new Map(made.map(prop => [prop.name, prop]));
  const names = new Set(own.map(({ name }) => name));
  return [...own.map(prop => byName.get(prop.name) ?? prop), ...made.filter(({ name }) => !names.has(name))];
}

/**
 * The props of a form whose component makes some by `additionalProps`: asks the code whenever the value of a prop changes on
 * which they depend. `asker` is null for a component without it.
 */
export function useMadeProps(own: Prop[], values: Values, asker: Asker | null, before: Made): MadeProps {
  const [made, setMade] = useState(before);
  const [isAsking, setAsking] = useState(false);
  const [fault, setFault] = useState("");
  const turn = useRef(0);
  const props = withMade(own, made.props);
  const inputs = inputsOf(props, values);
  const asked = useRef(inputs);
  // Other code, or a source that was saved: what was asked before no longer counts.
  useEffect(() => {
    turn.current += 1;
    setMade(before);
    setFault("");
    setAsking(false);
    asked.current = inputsOf(withMade(own, before.props), values);
  }, [before.id, asker]);
  const ask = async () => {
    if (!asker) return;
    turn.current += 1;
    const mine = turn.current;
    asked.current = inputs;
    setAsking(true);
    try {
      const soFar = { values: known(values, props), dynamicPropsId: made.id };
      const next = await asker.inTurn(async () => (turn.current === mine ? asker.props(soFar) : null));
      if (!next || turn.current !== mine) return;
      setFault(next.error?.message ?? "");
      if (next.dynamic_props_id !== null) {
        const { dynamic_props_id: id, dynamic_props } = next;
        // A prop that is new has no value yet: that is no change.
        asked.current = inputsOf(withMade(own, dynamic_props), values);
        setMade({ id, props: dynamic_props });
      }
    } catch (error) {
      if (turn.current === mine) setFault(messageOf(error));
    } finally {
      if (turn.current === mine) setAsking(false);
    }
  };
  useEffect(() => {
    if (!asker || inputs === asked.current) return;
    const timer = setTimeout(() => void ask(), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [inputs, asker]);
  return { props, id: made.id, isAsking, fault, ask: () => void ask() };
}

/** Their address is made by the server. */
const ENDPOINTS = new Set(["$.interface.http", "$.interface.apphook"]);

/** Values of props that the form has: those of props that are gone stay in its memory only. */
export function known(values: Values, props: Prop[] | null): Values {
  if (!props) return values;
  return Object.fromEntries(
    props
      .filter(({ name, type }) => values[name] !== undefined && !ENDPOINTS.has(type))
      .map(({ name }) => [name, values[name]]),
  );
}

/** Whether the code is being asked for more fields, and why that failed. */
export const MadeState = ({ made }: { made: MadeProps }) => {
  if (made.isAsking) return <p class="muted">Loading further fields …</p>;
  if (made.fault === "" && made.id !== null) return null;
  return (
    <div class="stack tight">
      {made.fault !== "" && <Notice tone="bad">The further fields can't be loaded: {made.fault}</Notice>}
      <div>
        <Button isSmall onClick={made.ask}>
          Load further fields
        </Button>
      </div>
    </div>
  );
};
