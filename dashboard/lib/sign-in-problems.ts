/** What the sign-in page says after a return from an OpenID provider, by the problem in its address. */
export const SIGN_IN_PROBLEMS: Record<string, string> = {
  cancelled: "You stopped the sign-in.",
  "provider-away":
    "The sign-in service can't be reached right now. Try again in a moment, or use an API key.",
  "provider-error":
    "The sign-in service did not accept this server. Its operator finds the reason in the log.",
  "not-proven": "What the sign-in service sent back could not be verified. Try again.",
  "not-yours":
    "This sign-in was begun in another browser or tab, was finished already, or took longer than ten minutes. Try again.",
  "not-verified": "The sign-in service has not verified your email address. Verify it there, and try again.",
  "not-allowed": "Your account there may not sign in here. The operator of this server decides who may.",
  "no-account": "You have no account on this server. Its operator can create one.",
  "account-exists":
    "There is an account with your email address that is not linked to this sign-in. Use its API key, or ask the operator.",
  "too-many": "Too many sign-ins from your address failed. Try again in 15 minutes.",
  unavailable: "The sign-in could not be finished right now. Try again in a moment.",
};
