import { useState } from "preact/hooks";
import { VERIFY, VERIFY_ED25519 } from "../lib/verify";
import { CopyBlock, Notice } from "../ui/basics";
import { Select } from "../ui/form";

/** How a webhook signs. */
export type Signing = "hmac" | "ed25519";

const KINDS = [
  { value: "hmac", label: "HMAC: one key on both sides" },
  { value: "ed25519", label: "Ed25519: you have the public key only" },
];

/** How deliveries are to be signed. */
export const SigningField = ({ value, onChange }: { value: Signing; onChange: (kind: Signing) => void }) => (
  <Select
    label="Signature"
    value={value}
    choices={KINDS}
    onChange={kind => onChange(kind as Signing)}
    hint={
      value === "hmac"
        ? "Every receiver library of Standard Webhooks verifies it."
        : "Nobody who reads the receiver's settings can forge a delivery."
    }
  />
);

/** A key to verify with: a secret that the server shows this once, or the public part of a pair; and how that is done. */
export const KeyShown = ({ signingKey, signing }: { signingKey: string; signing: Signing }) => (
  <>
    {signing === "hmac" && (
      <Notice tone="warn">It is shown only now. Put it where your receiver reads its secrets.</Notice>
    )}
    <CopyBlock text={signingKey} label={signing === "hmac" ? "Signing key" : "Public key"} />
    <Verify signing={signing} />
  </>
);

/** How a receiver verifies a delivery, in languages to choose from. */
export function Verify({ signing }: { signing: Signing }) {
  const examples = signing === "hmac" ? VERIFY : VERIFY_ED25519;
  const [language, setLanguage] = useState("Node");
  const shown = examples.find(one => one.language === language);
  return (
    <div class="stack tight">
      <fieldset class="row group" aria-label="Language">
        {examples.map(one => (
          <button
            key={one.language}
            type="button"
            class={`button small${one.language === language ? " primary" : ""}`}
            aria-pressed={one.language === language}
            onClick={() => setLanguage(one.language)}
          >
            {one.language}
          </button>
        ))}
      </fieldset>
      <CopyBlock text={shown?.code ?? ""} label={`Verification in ${language}`} />
    </div>
  );
}
