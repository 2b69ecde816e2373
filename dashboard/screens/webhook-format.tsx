import type { Schemas } from "../api/client";
import { Select } from "../ui/form";

export type Format = Schemas["Webhook"]["format"];

const FORMATS: { value: Format; label: string; hint: string }[] = [
  { value: "json", label: "JSON", hint: "The body is the event as it was emitted." },
  {
    value: "cloudevents",
    label: "CloudEvents",
    hint: "The body is a CloudEvent 1.0, whose data is the event (structured mode).",
  },
  {
    value: "cloudevents-binary",
    label: "CloudEvents, in headers",
    hint: "The body is the event; headers ce-id, ce-type and the like say which (binary mode).",
  },
];

interface FormatProps {
  value: Format;
  onChange: (format: Format) => void;
  fault?: string | undefined;
}

/** How requests are to have an event. */
export const FormatField = ({ value, onChange, fault }: FormatProps) => (
  <Select
    label="Body"
    value={value}
    choices={FORMATS}
    onChange={format => onChange(format as Format)}
    hint={FORMATS.find(one => one.value === value)?.hint}
    fault={fault}
  />
);
