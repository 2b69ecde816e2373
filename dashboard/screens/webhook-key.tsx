import { useState } from "preact/hooks";
import { VERIFY } from "../lib/verify";
import { CopyBlock, Notice } from "../ui/basics";

/** A signing key, which the server shows this once, and how to verify with it. */
export const KeyShown = ({ signingKey }: { signingKey: string }) => (
  <>
    <Notice tone="warn">It is shown only now. Put it where your receiver reads its secrets.</Notice>
    <CopyBlock text={signingKey} label="Signing key" />
    <Verify />
  </>
);

export function Verify() {
  const [language, setLanguage] = useState("Node");
  const shown = VERIFY.find(one => one.language === language);
  return (
    <div class="stack tight">
      <fieldset class="row group" aria-label="Language">
        {VERIFY.map(one => (
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
