import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { asRead, type Edits, saveEdits, useEdits } from "../api/edits";
import { callsOf, isWebhook, type Listener } from "../api/listeners";
import { lossesOfListener } from "../api/losses";
import type { Resource } from "../api/resource";
import { to } from "../lib/address";
import { scheduleOf, scheduleText, waitFault } from "../lib/retry-schedule";
import { Button, Card } from "../ui/basics";
import { Clashes } from "../ui/clashes";
import { Check, Form, TextField } from "../ui/form";
import { FormFault, useSending } from "../ui/form-fault";
import { toast } from "../ui/toasts";
import { useUnsaved } from "../ui/unsaved";
import { DeleteQuestion } from "./delete-question";
import { SCHEDULE_HINT, TIMEOUT_HINT } from "./webhook-parts";

const numberOf = (text: unknown): number | null => (String(text).trim() === "" ? null : Number(text));

/** The fields that every listener has, and what they are called. */
const LABELS: Record<string, string> = {
  name: "Name",
  description: "Description",
  max_in_flight: "Deliveries in flight at a time",
  rate_limit_per_second: "Attempts per second",
  retry_schedule: "Waits before retries",
  timeout_seconds: "Seconds for an attempt",
  ordered: "In order, one at a time",
  active: "Active",
};
const TEXTS = ["name", "description"];
const NUMBERS = ["max_in_flight", "rate_limit_per_second", "timeout_seconds"];

const fieldsOf = (listener: Listener) => ({
  ...Object.fromEntries([...TEXTS, ...NUMBERS].map(name => [name, String(listener[name as "name"] ?? "")])),
  retry_schedule: scheduleText(listener.retry_schedule),
  ordered: listener.ordered,
  active: listener.active,
});

/** What a request sends for what a field shows. */
function sent(name: string, value: unknown): unknown {
  if (NUMBERS.includes(name)) return numberOf(value);
  if (name === "retry_schedule") return scheduleOf(String(value));
  return TEXTS.includes(name) ? value || null : value;
}

interface SettingsProps<One extends Listener> {
  listener: One;
  resource: Resource<One>;
  /** Fields that only a listener of this kind has; they get what the last request found wrong. */
  children: (fault: unknown) => ComponentChildren;
  /** What those change. */
  parts: Edits<One>[];
  /** Those changes as a request sends them. */
  changes: () => object;
  labelOf: (name: string) => string;
  /** Whether one of those fields shows what is wrong with this path. */
  isShown: (path: string) => boolean;
}

/** Changes or deletes a webhook or a destination. */
export function ListenerSettings<One extends Listener>({
  listener,
  resource,
  children,
  parts,
  changes,
  labelOf,
  isShown,
}: SettingsProps<One>) {
  const { route } = useLocation();
  const own = useEdits<One>(listener, fieldsOf);
  const all = [own, ...parts];
  const [isDeleting, setDeleting] = useState(false);
  const { fault, faultOf, send } = useSending();
  useUnsaved(all.some(one => one.isChanged));
  const noun = isWebhook(listener.id) ? "webhook" : "destination";
  const label = listener.name || listener.url;
  // It has the time of a run.
  const isAction = "kind" in listener && listener.kind === "action";
  const calls = callsOf(listener.id);
  const save = () =>
    send(async () => {
      let lost: string[] = [];
      const isSaved = await saveEdits<One>({
        resource,
        parts: all,
        read: async () => (await calls.get(listener.id)) as One,
        write: async now => {
          const fields = Object.entries(own.changes).map(([name, value]) => [name, sent(name, value)]);
          const body = { ...changes(), ...Object.fromEntries(fields) };
          const saved = await calls.update(listener.id, body, asRead(now));
          lost = saved.secrets_removed;
          const shown: Listener = saved;
          return shown as One;
        },
      });
      if (lost.length > 0)
        toast(`Removed, because they were for what was set before: ${lost.join(", ")}.`, "bad");
      else if (isSaved) toast("Saved.", "good");
    });
  const text = (name: string) => ({
    label: LABELS[name] ?? name,
    value: String(own.values[name]),
    onInput: (value: string) => own.set(name, value),
    fault: faultOf(name),
  });
  return (
    <div class="stack">
      <Card title="Settings">
        <Form onSend={save}>
          <FormFault fault={fault} isShown={path => (path.split(".")[0] ?? "") in LABELS || isShown(path)} />
          {all.map((edits, i) => (
            <Clashes
              key={i}
              edits={edits}
              stored={listener}
              labelOf={name => LABELS[name] ?? labelOf(name)}
            />
          ))}
          {children(fault)}
          <TextField {...text("name")} />
          <TextField {...text("description")} />
          <TextField
            {...text("max_in_flight")}
            type="number"
            hint="1 to 100; empty for the server's default."
          />
          <TextField
            {...text("rate_limit_per_second")}
            type="number"
            hint="1 to 10,000; empty for no limit."
          />
          <TextField
            {...text("retry_schedule")}
            fault={waitFault(faultOf("retry_schedule"))}
            placeholder="5s, 1m, 1h"
            hint={SCHEDULE_HINT}
          />
          {!isAction && <TextField {...text("timeout_seconds")} type="number" hint={TIMEOUT_HINT} />}
          {["ordered", "active"].map(name => (
            <Check
              key={name}
              label={LABELS[name] ?? name}
              isOn={own.values[name] === true}
              onChange={isOn => own.set(name, isOn)}
            />
          ))}
          <div>
            <Button changes type="submit" kind="primary">
              Save
            </Button>
          </div>
        </Form>
      </Card>
      <Card title="Delete">
        <div class="spread">
          <span class="muted">A deleted {noun} can't be brought back.</span>
          <Button changes kind="danger" icon="trash" onClick={() => setDeleting(true)}>
            Delete {noun}
          </Button>
        </div>
      </Card>
      {isDeleting && (
        <DeleteQuestion
          title={`Delete ${label}?`}
          losses={call => lossesOfListener(listener.id, call)}
          onClose={() => setDeleting(false)}
          onConfirm={async () => {
            await callsOf(listener.id).delete(listener.id);
            toast(`${label} is deleted.`, "good");
            route(to(`/${noun}s`));
          }}
        >
          It can't be brought back: a new {noun} has another id{isWebhook(listener.id) && " and another key"}.
          To stop it for a while, switch it off.
        </DeleteQuestion>
      )}
    </div>
  );
}
