import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { messageOf, type Schemas } from "../api/client";
import type { Asker, SoFar } from "../api/configure";
import { Button, Notice } from "../ui/basics";
import { Check, type Choice, TextField, useFault } from "../ui/form";

type Prop = Schemas["ConfigurableProp"];

/** What a form needs to ask a component's code for choices. */
export interface Remote {
  asker: Asker;
  soFar: SoFar;
}

/** After the last change of another value or of the search, before the code is asked: each time counts as a run. */
const PAUSE_MS = 500;

interface Loaded {
  choices: Choice[];
  page: number;
  context: unknown;
  hasMore: boolean;
}

const NOTHING: Loaded = { choices: [], page: -1, context: null, hasMore: true };

/** The choices of a prop as its code lists them, page by page. */
function useChoices({ asker, soFar }: Remote, prop: Prop) {
  const usesQuery = (prop as { use_query?: unknown }).use_query === true;
  const [loaded, setLoaded] = useState<Loaded | null>(null);
  const [fault, setFault] = useState("");
  const [isAsking, setAsking] = useState(false);
  const [query, setQuery] = useState("");
  const turn = useRef(0);
  const others = JSON.stringify(Object.entries(soFar.values).filter(([name]) => name !== prop.name));
  const load = async (from: Loaded) => {
    turn.current += 1;
    const mine = turn.current;
    setAsking(true);
    setFault("");
    try {
      const { page, context } = from;
      const asked = { prop: prop.name, page: page + 1, context, query: usesQuery ? query : "" };
      const listedNow = await asker.inTurn(async () =>
        turn.current === mine ? asker.options(soFar, asked) : null,
      );
      if (!listedNow || turn.current !== mine) return;
      const { options, context: next, error } = listedNow;
      if (error) throw new Error(error.message);
      const listed = options.map(({ label, value }) => ({ label, value: JSON.stringify(value) }));
      const fresh = listed.filter(one => !from.choices.some(({ value }) => value === one.value));
      setLoaded({
        choices: [...from.choices, ...fresh],
        page: page + 1,
        context: next ?? null,
        // Code that has no pages lists the same again.
        hasMore: fresh.length > 0,
      });
    } catch (error) {
      if (turn.current === mine) setFault(messageOf(error));
    } finally {
      if (turn.current === mine) setAsking(false);
    }
  };
  const asked = useRef({ others, query });
  useEffect(() => {
    const isSame = asked.current.others === others && (!usesQuery || asked.current.query === query);
    if (loaded === null || isSame) return;
    const timer = setTimeout(() => {
      asked.current = { others, query };
      void load(NOTHING);
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [others, query, loaded === null]);
  const begin = () => {
    asked.current = { others, query };
    return load(NOTHING);
  };
  return { loaded, fault, isAsking, query, setQuery, usesQuery, begin, more: () => load(loaded ?? NOTHING) };
}

interface RemoteFieldProps {
  prop: Prop;
  label: string;
  hint: string | undefined;
  fault: string | undefined;
  value: unknown;
  remote: Remote;
  onChange: (value: unknown) => void;
  /** The field without choices, which takes any value. */
  free: ComponentChildren;
}

/** A prop whose choices the component's code lists when it is asked. Any value can be typed instead. */
export function RemoteField(props: RemoteFieldProps) {
  const { prop, label, hint, value, remote, onChange, free } = props;
  const fault = useFault(label, props.fault, value);
  const about = useId();
  const found = useChoices(remote, prop);
  const [isFree, setFree] = useState(false);
  const { loaded, isAsking } = found;
  if (isFree || found.fault) {
    return (
      <div class="stack tight">
        {found.fault && <Notice tone="bad">The choices can't be loaded: {found.fault}</Notice>}
        {free}
        <div>
          <Button
            isSmall
            label={`${found.fault ? "Try again" : "Choose from a list"}: ${label}`}
            onClick={async () => {
              setFree(false);
              await found.begin();
            }}
          >
            {found.fault ? "Try again" : "Choose from a list"}
          </Button>
        </div>
      </div>
    );
  }
  const isList = prop.type.endsWith("[]");
  const chosen = (
    isList ? (Array.isArray(value) ? value : []) : value === undefined || value === null ? [] : [value]
  ).map(one => JSON.stringify(one));
  const words = found.usesQuery ? "" : found.query.toLowerCase();
  const choices = (loaded?.choices ?? []).filter(one => one.label.toLowerCase().includes(words));
  const kept = chosen
    .filter(one => !choices.some(choice => choice.value === one))
    .map(one => ({ value: one, label: loaded?.choices.find(it => it.value === one)?.label ?? textOf(one) }));
  const choose = (one: string, isOn: boolean) => {
    if (!isList) return onChange(isOn ? JSON.parse(one) : null);
    const next = isOn ? [...chosen, one] : chosen.filter(it => it !== one);
    onChange(next.length > 0 ? next.map(it => JSON.parse(it)) : null);
  };
  return (
    <fieldset class="field checks" aria-describedby={about} aria-busy={isAsking}>
      <legend>{label}</legend>
      {[...kept, ...choices].map(choice =>
        isList ? (
          <Check
            key={choice.value}
            label={choice.label}
            isOn={chosen.includes(choice.value)}
            onChange={isOn => choose(choice.value, isOn)}
          />
        ) : (
          <label class="check" key={choice.value}>
            <input
              type="radio"
              name={about}
              checked={chosen.includes(choice.value)}
              onChange={() => choose(choice.value, true)}
            />
            <span>{choice.label}</span>
          </label>
        ),
      )}
      {loaded && choices.length === 0 && !isAsking && <p class="muted">No choices.</p>}
      {loaded && (found.usesQuery || loaded.choices.length > SEARCHED) && (
        <TextField
          label={`Search ${label}`}
          value={found.query}
          onInput={found.setQuery}
          hint={found.usesQuery ? undefined : "Among those that are loaded."}
        />
      )}
      <div class="row">
        {loaded === null && (
          <Button isSmall label={`Load choices: ${label}`} onClick={found.begin}>
            Load choices
          </Button>
        )}
        {loaded?.hasMore && (
          <Button isSmall label={`More: ${label}`} onClick={found.more}>
            More
          </Button>
        )}
        <Button isSmall kind="ghost" label={`Type a value: ${label}`} onClick={() => setFree(true)}>
          Type a value
        </Button>
        {!isList && prop.optional === true && chosen.length > 0 && (
          <Button isSmall kind="ghost" label={`Clear: ${label}`} onClick={() => onChange(null)}>
            Clear
          </Button>
        )}
      </div>
      <div id={about}>
        {hint && <div class="hint">{hint}</div>}
        {fault && <div class="fault">{fault}</div>}
      </div>
    </fieldset>
  );
}

/** As many choices are seen at a glance. */
const SEARCHED = 8;

const textOf = (json: string): string => {
  const value = JSON.parse(json);
  return typeof value === "string" ? value : json;
};
