import { useState } from "preact/hooks";
import type { Schemas } from "../api/client";
import { TextField } from "../ui/form";

type Rules = Schemas["EventRules"];

/** Rules as they are typed; all empty: those of the operator count. */
export interface TypedRules {
  /** One a line. */
  names: string;
  event: string;
  challenge: string;
}

/** Returns how the rules of a connection are typed. */
export const typedRules = (rules: Rules | null): TypedRules => ({
  names: rules?.names?.join("\n") ?? "",
  event: rules?.event ?? "",
  challenge: rules?.challenge ?? "",
});

/** Returns the rules that were typed; null if none was. */
export function rulesOf({ names, event, challenge }: TypedRules): Rules | null {
  const lines = names
    .split("\n")
    .map(line => line.trim())
    .filter(Boolean);
  const rules = {
    ...(lines.length > 0 && { names: lines }),
    ...(event.trim() !== "" && { event: event.trim() }),
    ...(challenge.trim() !== "" && { challenge: challenge.trim() }),
  };
  return Object.keys(rules).length > 0 ? rules : null;
}

interface EventRulesProps {
  rules: TypedRules;
  /** What the operator says for the app; null if nothing. */
  ofApp: Rules | null;
  onChange: (rules: TypedRules) => void;
  /** What is wrong with a path of the request. */
  faultOf: (path: string) => string | undefined;
}

/** How the events are read that an app sends to a connection (docs/connections.md#events-of-an-app). */
export function EventRules({ rules, ofApp, onChange, faultOf }: EventRulesProps) {
  const operators = typedRules(ofApp);
  // As it begins: emptied while it is typed in, it stays open.
  const [isOpen] = useState(rulesOf(rules) !== null);
  return (
    <details class="form" open={isOpen}>
      <summary>Events that the app sends</summary>
      <p class="hint">
        {ofApp
          ? "Empty: as the operator says for the app. What is typed replaces all of it."
          : "The operator says nothing of this app: its events have no names until they are typed here."}
      </p>
      <TextField
        label="What an event is called"
        isLong
        rows={3}
        fault={faultOf("events.names")}
        value={rules.names}
        onInput={names => onChange({ ...rules, names })}
        placeholder={operators.names || "{{headers.x-event}}"}
        hint="Its names, one template per line: {{body.type}}."
      />
      <TextField
        label="What sources receive"
        fault={faultOf("events.event")}
        value={rules.event}
        onInput={event => onChange({ ...rules, event })}
        placeholder={operators.event || "{{body}}"}
        hint="All of the body if empty."
      />
      <TextField
        label="Challenge"
        fault={faultOf("events.challenge")}
        value={rules.challenge}
        onInput={challenge => onChange({ ...rules, challenge })}
        placeholder={operators.challenge || "{{body.challenge}}"}
        hint="What the app wants sent back when it checks the address, if it does."
      />
    </details>
  );
}
