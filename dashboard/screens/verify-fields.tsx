import { useState } from "preact/hooks";
import {
  OWN_RULE,
  type Preset,
  secretFault,
  type useNewSender,
  type Verify,
  type VerifyForm,
} from "../api/verification";
import { counted, sentence } from "../lib/format";
import { Badge } from "../ui/basics";
import { Check, FixedField, Select, TextField } from "../ui/form";
import type { FaultOf } from "../ui/form-fault";
import { NamedChoice } from "../ui/named-choice";
import { NumberField } from "../ui/number-field";
import { JsonField } from "./prop-fields";

/** Whether a source verifies, in a word or two. */
export function VerifyBadge({ verify }: { verify: Verify | null }) {
  if (verify === null) return null;
  if (verify.secrets === 0) return <Badge tone="warn">Waits for its secret</Badge>;
  if (verify.mode === "report") return <Badge tone="warn">Only reports</Badge>;
  return <Badge tone="good">Verifies</Badge>;
}

/** What people call a provider. */
export const providerName = ({ preset }: Pick<Verify, "preset">, presets: Preset[] | undefined): string =>
  preset === null ? "a rule of its own" : (presets?.find(({ name }) => name === preset)?.title ?? preset);

/** Whether a field shows what is wrong with this path of a request. */
export const hasVerifyField = (path: string): boolean =>
  /^verify\.(preset|rule|secrets|tolerance|reject_with|mode)\b/.test(path);

/** What the fields are called where somebody else has changed one. */
export const VERIFY_LABELS: Record<string, string> = {
  provider: "Provider",
  rule: "Rule",
  tolerance: "How old a request may be",
  reject_with: "Response to a rejected request",
  drop_repeats: "Repeated requests",
  mode: "What is not verified",
};

export interface VerifyFieldsProps {
  form: VerifyForm;
  presets: Preset[];
  fault: unknown;
  faultOf: FaultOf;
  /** Who may send while no provider is chosen. */
  anybody?: string;
}

interface NewSenderProps extends Pick<VerifyFieldsProps, "fault" | "faultOf"> {
  sender: ReturnType<typeof useNewSender>;
}

/** The fields of who may send to a new source; nothing for one that is not asked. */
export const NewSender = ({ sender: { presets, form, respondsItself }, ...faults }: NewSenderProps) =>
  presets ? (
    <VerifyFields
      form={form}
      presets={presets}
      {...faults}
      {...(respondsItself && { anybody: "The component decides, or anybody" })}
    />
  ) : null;

/** The fields of how requests are verified, those first that everybody needs. */
export function VerifyFields({
  form,
  presets,
  fault,
  faultOf,
  anybody = "Anybody who knows the address",
}: VerifyFieldsProps) {
  const { values, set, preset, isAuthors } = form;
  const isVerified = values.provider !== "";
  return (
    <>
      {isAuthors ? (
        <FixedField label="Provider" value={preset?.title ?? "A rule of its own"} />
      ) : (
        <NamedChoice
          label="Provider"
          value={values.provider}
          choices={[
            ...presets.map(({ name, title }) => ({ value: name, label: title })),
            { value: OWN_RULE, label: "A rule of your own" },
          ]}
          onChange={form.choose}
          fault={faultOf("verify.preset")}
          placeholder={anybody}
          hint={hintOf(preset, isVerified)}
        />
      )}
      {values.provider === OWN_RULE && !isAuthors && (
        <JsonField
          label="Rule"
          hint="A scheme as data, such as {&quot;scheme&quot;: &quot;hmac&quot;, …}: docs/verify.md has its parts."
          value={values.rule}
          fault={faultOf("verify.rule")}
          onChange={rule => set("rule", rule)}
        />
      )}
      {isVerified && (
        <>
          <SecretFields form={form} fault={secretFault(fault)} />
          {!isAuthors && (
            <Select
              label="What is not verified"
              value={values.mode}
              choices={[
                { value: "enforce", label: "is rejected" },
                { value: "report", label: "is let through and marked, to try the rule" },
              ]}
              onChange={mode => set("mode", mode)}
              fault={faultOf("verify.mode")}
            />
          )}
          <MoreFields form={form} faultOf={faultOf} />
        </>
      )}
    </>
  );
}

const hintOf = (preset: Preset | undefined, isVerified: boolean): string => {
  if (!isVerified) return "Type to search. Empty: anybody may send, and the address is the only secret.";
  const known = preset?.known === "read" ? "Made from what the provider publishes, not with its code." : "";
  return [preset?.note, known].filter(Boolean).join(" ");
};

function SecretFields({ form, fault }: { form: VerifyForm; fault: string | undefined }) {
  const { secret, setSecret, given, hasOther, preset } = form;
  const state = [
    given > 0 && `${counted(given, "secret")} ${given === 1 ? "is" : "are"} set, and never shown.`,
    hasOther && "There is one that the component or the app's operator has chosen.",
    given === 0 && !hasOther && secret.text === "" && "Everything is rejected until one is set.",
    secret.text !== secret.text.trim() && "It begins or ends with a blank!",
  ];
  const what = preset && `${sentence(preset.secret)}${/[.…]$/.test(preset.secret) ? "" : "."}`;
  const isPem = form.values.rule?.key?.encoding === "pem";
  return (
    <>
      <TextField
        label={given > 0 || hasOther ? "New secret" : "Secret"}
        {...(isPem ? { isLong: true } : { type: "password" as const })}
        autocomplete="off"
        placeholder={given > 0 ? "••••••••" : "not set"}
        value={secret.text}
        onInput={text => setSecret({ text, dropsOlder: false })}
        fault={fault}
        hint={[what, ...state].filter(Boolean).join(" ")}
      />
      {given > 0 && secret.text !== "" && (
        <Check
          label="Keep the secret that is set, too, until the provider signs with the new one"
          isOn={secret.isBeside}
          onChange={isBeside => setSecret({ isBeside })}
        />
      )}
      {given > 1 && secret.text === "" && (
        <Check
          label="Remove the older secret: the provider signs with the new one"
          isOn={secret.dropsOlder}
          onChange={dropsOlder => setSecret({ dropsOlder })}
        />
      )}
    </>
  );
}

const STATUSES = [
  { value: "401", label: "401 Unauthorized" },
  { value: "403", label: "403 Forbidden" },
  { value: "404", label: "404 Not Found" },
  { value: "400", label: "400 Bad Request" },
];

function MoreFields({ form, faultOf }: { form: VerifyForm; faultOf: FaultOf }) {
  const { values, set, preset } = form;
  // As it begins: one that is opened stays open.
  const [isOpen] = useState(values.reject_with !== 401 || values.drop_repeats);
  const [rejectFault, toleranceFault] = [faultOf("verify.reject_with"), faultOf("verify.tolerance")];
  return (
    <details class="form" open={isOpen || Boolean(rejectFault ?? toleranceFault)}>
      <summary>More</summary>
      <Select
        label="Response to a rejected request"
        value={String(values.reject_with)}
        choices={STATUSES}
        onChange={status => set("reject_with", Number(status))}
        fault={rejectFault}
        hint="Some providers expect another status than 401. It never says why."
      />
      {(preset?.has_timestamp ?? values.rule?.timestamp !== undefined) && (
        <NumberField
          label="How old a request may be, in seconds"
          value={values.tolerance}
          onInput={tolerance => set("tolerance", tolerance)}
          fault={toleranceFault}
          hint="Empty: as the provider says."
        />
      )}
      <Check
        label="Run a repeated request only once, by its id"
        isOn={values.drop_repeats}
        onChange={isOn => set("drop_repeats", isOn)}
      />
    </details>
  );
}
