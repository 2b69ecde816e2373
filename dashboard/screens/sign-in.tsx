import { useEffect, useState } from "preact/hooks";
import { startSession } from "../api/calls";
import { ApiError, messageOf } from "../api/client";
import { loadMe } from "../api/session";
import { BASE } from "../lib/address";
import { Button, CopyBlock, Notice } from "../ui/basics";
import { TextField } from "../ui/form";
import { Logo } from "../ui/icon";

/** The one-time link's token is in the fragment, which no server and no log sees. */
function claimLink(): string | null {
  const token = /^#link=(.+)$/.exec(location.hash)?.[1] ?? null;
  if (token !== null) history.replaceState(null, "", location.pathname + location.search);
  return token;
}

const linkToken = claimLink();

/** Asks for an API key, or uses the link of `headwater login`; the page that was asked for is shown afterwards. */
export function SignIn() {
  const [key, setKey] = useState("");
  const [fault, setFault] = useState("");
  const [isBusy, setBusy] = useState(linkToken !== null);

  const start = async (body: { api_key: string } | { link: string }) => {
    setBusy(true);
    setFault("");
    try {
      await startSession(body);
      if (location.pathname === `${BASE}/sign-in`) history.replaceState(null, "", BASE);
      await loadMe();
    } catch (error) {
      const isWrong = error instanceof ApiError && error.status === 401;
      const wrong =
        "link" in body ? "This link was used already, or it has expired." : "This key is not valid.";
      setFault(isWrong ? wrong : messageOf(error));
    } finally {
      setBusy(false);
    }
  };
  useEffect(() => {
    document.title = "Sign in · Headwater";
    if (linkToken !== null) void start({ link: linkToken });
  }, []);

  return (
    <main class="sign-in">
      <form
        class="card pad stack"
        onSubmit={event => {
          event.preventDefault();
          void start({ api_key: key.trim() });
        }}
      >
        <div class="sign-in-brand">
          <Logo />
          <h1>Headwater</h1>
          <p class="muted">Sign in with an API key of your account.</p>
        </div>
        {fault && <Notice tone="bad">{fault}</Notice>}
        <TextField
          label="API key"
          type="password"
          autocomplete="current-password"
          placeholder="hw_…"
          isRequired
          value={key}
          onInput={setKey}
        />
        <Button type="submit" kind="primary" isDisabled={isBusy}>
          {isBusy ? "Signing in …" : "Sign in"}
        </Button>
        <div class="stack tight">
          <p class="hint">Or have a link printed that works once:</p>
          <CopyBlock text="bin/headwater login" label="Command" />
        </div>
      </form>
    </main>
  );
}
