import { useEffect, useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { beginOpenIdSignIn, readSignInOptions, startSession } from "../api/calls";
import { ApiError, messageOf } from "../api/client";
import { expectReturn, hasSignedOut, loadMe, me } from "../api/session";
import { BASE } from "../lib/address";
import { SIGN_IN_PROBLEMS } from "../lib/sign-in-problems";
import { addStyles } from "../lib/styles";
import styles from "../styles/later/sign-in.css";
import { Button, CopyBlock, Notice } from "../ui/basics";
import { TextField } from "../ui/form";
import { Logo } from "../ui/icon";

addStyles(styles);

const PATH = `${BASE}/sign-in`;
/** Of an address that the server remembers until the browser returns. */
const MOST_CHARS = 1000;

/**
 * What the address says once: a link's token, which is in the fragment that no server and no log sees, a problem, and that
 * the provider signed this browser out.
 */
function claimAddress(): { link: string | null; problem: string; isSignedOut: boolean } {
  const link = /^#link=(.+)$/.exec(location.hash)?.[1] ?? null;
  const query = new URLSearchParams(location.pathname === PATH ? location.search : "");
  const [name, state] = [query.get("problem"), query.get("state")];
  const isClaimed = name !== null || state !== null;
  if (link !== null || isClaimed) {
    history.replaceState(null, "", location.pathname + (isClaimed ? "" : location.search));
  }
  const isSignedOut = hasSignedOut(state);
  if (name === null) return { link, problem: "", isSignedOut };
  const known = Object.hasOwn(SIGN_IN_PROBLEMS, name) ? SIGN_IN_PROBLEMS[name] : undefined;
  return { link, problem: known ?? "The sign-in failed. Try again.", isSignedOut };
}

let claimed = claimAddress();

/**
 * Asks for an API key, uses the link of `headwater dashboard`, or leads to the OpenID provider; the page that was asked for is
 * shown afterwards.
 */
export function SignIn() {
  const { path, url, route } = useLocation();
  const [key, setKey] = useState("");
  const [{ link, problem, isSignedOut }] = useState(claimed);
  const [fault, setFault] = useState(problem);
  const [isBusy, setBusy] = useState(link !== null);
  const [provider, setProvider] = useState("");

  const start = async (body: { api_key: string } | { link: string }) => {
    setBusy(true);
    setFault("");
    try {
      await startSession(body);
      // By the router, which otherwise looks for a screen at this page's address.
      if (path === PATH) route(BASE, true);
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
  const leave = async () => {
    setBusy(true);
    setFault("");
    try {
      const { url: there } = await beginOpenIdSignIn(
        path === PATH ? BASE : url.length > MOST_CHARS ? path : url,
      );
      expectReturn();
      location.assign(there);
    } catch (error) {
      setFault(messageOf(error));
      setBusy(false);
    }
  };
  useEffect(() => {
    document.title = "Sign in · Headwater";
    claimed = { link: null, problem: "", isSignedOut: false };
    if (link !== null) void start({ link });
    // Without the options there is the key.
    readSignInOptions().then(
      ({ openid_connect }) => setProvider(openid_connect?.name ?? ""),
      () => undefined,
    );
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
          {!provider && <p class="muted">Sign in with an API key of your account.</p>}
        </div>
        {fault && <Notice tone="bad">{fault}</Notice>}
        {me.value !== null && !fault && <Notice tone="warn">Your session has ended: sign in again.</Notice>}
        {isSignedOut && !fault && (
          <Notice>You are signed out, here and with {provider || "your provider"}.</Notice>
        )}
        {provider && (
          <>
            <Button kind="primary" isDisabled={isBusy} onClick={leave}>
              Sign in with {provider}
            </Button>
            <p class="hint">Or with an API key:</p>
          </>
        )}
        <TextField
          label="API key"
          type="password"
          autocomplete="current-password"
          placeholder="hw_…"
          isRequired
          value={key}
          onInput={setKey}
        />
        <Button type="submit" kind={provider ? "plain" : "primary"} isDisabled={isBusy}>
          {isBusy ? "Signing in …" : "Sign in"}
        </Button>
        <div class="stack tight">
          <p class="hint">Or open a link that signs in once, which this command prints:</p>
          <CopyBlock text="bin/headwater dashboard" label="Command" />
        </div>
      </form>
    </main>
  );
}
