import type { OpenIdFault } from "../../openid/openid-error.ts";

/** Why a return from the provider started no session; the sign-in page has a sentence for each. */
export const SIGN_IN_PROBLEMS = [
  "cancelled",
  "provider-away",
  "provider-error",
  "not-proven",
  /** Another browser's or another sign-in's return, a repeated one, or a late one. */
  "not-yours",
  /** The provider has not verified the email address. */
  "not-verified",
  /** No rule of the operator lets this person in. */
  "not-allowed",
  /** There is no account, and none is made. */
  "no-account",
  /** There is an account with this email address that is not linked. */
  "account-exists",
  "too-many",
  "unavailable",
] as const satisfies readonly (OpenIdFault | string)[];

export type SignInProblem = (typeof SIGN_IN_PROBLEMS)[number];

/** A person whom the provider vouches for, and who is not let in all the same. */
export class NotLetIn extends Error {
  readonly problem: SignInProblem;

  constructor(problem: SignInProblem) {
    super(problem);
    this.name = "NotLetIn";
    this.problem = problem;
  }
}
