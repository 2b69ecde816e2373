import type { Schemas } from "../api/client";
import { TextField } from "../ui/form";
import type { FaultOf } from "../ui/form-fault";

export type StoredDestination = Schemas["Destination"];
export type Kind = StoredDestination["kind"];
/** What is typed, by the name of the setting. */
export type Typed = Record<string, string>;

interface Setting {
  name: string;
  label: string;
  hint?: string;
  placeholder?: string;
  isRequired?: boolean;
  /** Never shown, and kept if nothing is typed. */
  isSecret?: boolean;
  type?: "number";
}

const LOGIN: Setting[] = [
  { name: "username", label: "User name" },
  { name: "password", label: "Password", isSecret: true },
];

/** The settings of each kind (docs/destinations.md, docs/actions.md). */
const KINDS: Record<Kind, { label: string; settings: Setting[]; about?: string }> = {
  redis_stream: {
    label: "Redis stream",
    settings: [
      {
        name: "url",
        label: "Address",
        isRequired: true,
        placeholder: "rediss://redis.example.com:6380",
        hint: "rediss:// is TLS; /1 at its end names a database.",
      },
      ...LOGIN,
      { name: "stream", label: "Stream", isRequired: true, placeholder: "orders", hint: "Its key." },
      {
        name: "max_length",
        label: "Entries kept",
        type: "number",
        hint: "About so many, the newest; empty for 100,000.",
      },
    ],
  },
  rabbitmq: {
    label: "RabbitMQ",
    settings: [
      {
        name: "url",
        label: "Address",
        isRequired: true,
        placeholder: "amqps://rabbit.example.com/shop",
        hint: "amqps:// is TLS; the path names a virtual host.",
      },
      ...LOGIN,
      {
        name: "queue",
        label: "Queue",
        placeholder: "orders",
        hint: "Either this or an exchange; it exists.",
      },
      { name: "exchange", label: "Exchange" },
      { name: "routing_key", label: "Routing key", hint: "With an exchange only." },
    ],
  },
  s3: {
    label: "Bucket (S3)",
    settings: [
      {
        name: "url",
        label: "Address",
        isRequired: true,
        placeholder: "https://shop-events.s3.eu-central-1.amazonaws.com",
        hint: "With the bucket in its host, or as its path.",
      },
      { name: "region", label: "Region", isRequired: true, placeholder: "eu-central-1" },
      { name: "access_key_id", label: "Id of the access key", isRequired: true },
      { name: "secret_access_key", label: "Secret of the access key", isRequired: true, isSecret: true },
      {
        name: "key",
        label: "Keys of the objects",
        placeholder: "{date}/{emitter_id}/{event_id}.json",
        hint: "A pattern with {id}, or {emitter_id} and {event_id}; perhaps {date}, {hour} and {event_name}.",
      },
    ],
  },
  /** A program asks for its events (docs/destinations.md#pull). */
  pull: {
    label: "Pull (kept for a program)",
    settings: [],
    about: "Its events are kept here until a program asks for them: headwater pull, or the API.",
  },
  /** Its fields are those of its component (action-form.tsx). */
  action: { label: "Action (a component)", settings: [] },
};

export const KIND_CHOICES = Object.entries(KINDS).map(([value, { label }]) => ({ value, label }));

export const labelOf = (kind: Kind): string => KINDS[kind].label;

/** What is stored, as it stands in the fields; secrets are not shown. */
export function typedOf(destination: StoredDestination): Typed {
  const shown = (destination[destination.kind] ?? {}) as Record<string, unknown>;
  const texts = KINDS[destination.kind].settings.map(({ name }) => [name, String(shown[name] ?? "")]);
  return Object.fromEntries(texts);
}

const parsed = ({ type }: Setting, text: string): unknown => (type === "number" ? Number(text) : text.trim());

export const settingLabel = (kind: Kind, name: string): string =>
  KINDS[kind].settings.find(one => one.name === name)?.label ?? name;

/** The settings of a request: those that were typed, of which an empty one is removed. */
export function settingsOf(kind: Kind, typed: Typed): Record<string, unknown> {
  return Object.fromEntries(
    KINDS[kind].settings
      .filter(({ name }) => typed[name] !== undefined)
      .map(setting => {
        const text = typed[setting.name] ?? "";
        return [setting.name, text.trim() === "" ? null : parsed(setting, text)];
      }),
  );
}

interface FieldsProps {
  kind: Kind;
  typed: Typed;
  onChange: (name: string, text: string) => void;
  faultOf: FaultOf;
  /** An existing destination keeps the secrets that are left empty. */
  isNew?: boolean;
}

const SECRET = "Kept encrypted and never shown.";
const KEPT = "Kept encrypted and never shown; empty keeps it. Another address needs it again.";

export const DestinationFields = ({ kind, typed, onChange, faultOf, isNew = false }: FieldsProps) => (
  <>
    {KINDS[kind].about && <p class="hint">{KINDS[kind].about}</p>}
    {KINDS[kind].settings.map(({ name, label, hint, placeholder, isRequired = false, isSecret, type }) => (
      <TextField
        key={`${kind}.${name}`}
        label={label}
        type={isSecret ? "password" : type === "number" ? "number" : "text"}
        autocomplete="off"
        placeholder={placeholder}
        isRequired={isRequired && (isNew || !isSecret)}
        hint={isSecret ? (isNew ? SECRET : KEPT) : hint}
        fault={faultOf(`${kind}.${name}`)}
        value={typed[name] ?? ""}
        onInput={text => onChange(name, text)}
      />
    ))}
  </>
);
