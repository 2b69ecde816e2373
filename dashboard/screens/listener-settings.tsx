import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { ApiError, messageOf } from "../api/client";
import { callsOf, isWebhook, type Listener } from "../api/listeners";
import type { Resource } from "../api/resource";
import { to } from "../lib/address";
import { Button, Card, Notice } from "../ui/basics";
import { Confirm } from "../ui/dialog";
import { Check, TextField } from "../ui/form";
import { toast } from "../ui/toasts";

const numberOf = (text: string): number | null => (text.trim() === "" ? null : Number(text));

/** What is wrong with the field of this name. */
export type FaultOf = (path: string) => string | undefined;

/** Of a field that has fields itself, such as the props of an action, the first fault with its name. */
export const faultsOf =
  (fault: unknown): FaultOf =>
  path => {
    const faults = fault instanceof ApiError ? fault.errors : [];
    const own = faults.find(one => one.path === path);
    if (own) return own.message;
    const inner = faults.find(one => one.path.startsWith(`${path}.`));
    return inner && `${inner.path.slice(path.length + 1)}: ${inner.message}`;
  };

interface SettingsProps<One extends Listener> {
  listener: One;
  resource: Resource<One>;
  /** Fields that only a listener of this kind has; they get what the last request found wrong. */
  children: (fault: unknown) => ComponentChildren;
  /** What those change; throws for what can't be sent. */
  changes: () => object;
  onSaved?: (saved: One) => void;
}

/** Changes or deletes a webhook or a destination. */
export function ListenerSettings<One extends Listener>({
  listener,
  resource,
  children,
  changes,
  onSaved,
}: SettingsProps<One>) {
  const { route } = useLocation();
  const [name, setName] = useState(listener.name ?? "");
  const [description, setDescription] = useState(listener.description ?? "");
  const [inFlight, setInFlight] = useState(String(listener.max_in_flight ?? ""));
  const [rate, setRate] = useState(String(listener.rate_limit_per_second ?? ""));
  const [isOrdered, setOrdered] = useState(listener.ordered);
  const [isActive, setActive] = useState(listener.active);
  const [isDeleting, setDeleting] = useState(false);
  const [fault, setFault] = useState<unknown>();
  const faultOf = faultsOf(fault);
  const noun = isWebhook(listener.id) ? "webhook" : "destination";
  const label = listener.name || listener.url;
  const save = async () => {
    setFault(undefined);
    try {
      const body = {
        ...changes(),
        name: name || null,
        description: description || null,
        max_in_flight: numberOf(inFlight),
        rate_limit_per_second: numberOf(rate),
        ordered: isOrdered,
        active: isActive,
      };
      const saved = (await callsOf(listener.id).update(listener.id, body)) as One;
      resource.put(saved);
      onSaved?.(saved);
      toast("Saved.", "good");
    } catch (error) {
      setFault(error);
    }
  };
  return (
    <div class="stack">
      <Card title="Settings">
        <form
          class="form"
          onSubmit={event => {
            event.preventDefault();
            void save();
          }}
        >
          {fault !== undefined && <Notice tone="bad">{messageOf(fault)}</Notice>}
          {children(fault)}
          <TextField label="Name" value={name} onInput={setName} fault={faultOf("name")} />
          <TextField
            label="Description"
            value={description}
            onInput={setDescription}
            fault={faultOf("description")}
          />
          <TextField
            label="Deliveries in flight at a time"
            type="number"
            value={inFlight}
            onInput={setInFlight}
            hint="1 to 100; empty for the server's default."
            fault={faultOf("max_in_flight")}
          />
          <TextField
            label="Attempts per second"
            type="number"
            value={rate}
            onInput={setRate}
            hint="1 to 10,000; empty for no limit."
            fault={faultOf("rate_limit_per_second")}
          />
          <Check label="In order, one at a time" isOn={isOrdered} onChange={setOrdered} />
          <Check label="Active" isOn={isActive} onChange={setActive} />
          {"header_names" in listener && listener.header_names.length > 0 && (
            <p class="hint">
              Custom headers: {listener.header_names.join(", ")}. Their values are never shown.
            </p>
          )}
          <div>
            <Button type="submit" kind="primary">
              Save
            </Button>
          </div>
        </form>
      </Card>
      <Card title="Delete">
        <div class="spread">
          <span class="muted">A deleted {noun} can't be brought back.</span>
          <Button kind="danger" icon="trash" onClick={() => setDeleting(true)}>
            Delete {noun}
          </Button>
        </div>
      </Card>
      {isDeleting && (
        <Confirm
          title={`Delete ${label}?`}
          action="Delete"
          onClose={() => setDeleting(false)}
          onConfirm={async () => {
            await callsOf(listener.id).delete(listener.id);
            toast(`${label} is deleted.`, "good");
            route(to(`/${noun}s`));
          }}
        >
          <p>Its subscriptions are deleted, and its pending deliveries are cancelled.</p>
        </Confirm>
      )}
    </div>
  );
}
