import type { OpenIdFault } from "../../openid/openid-error.ts";

/** Why a consent led to no connection; the page has a sentence for each. */
export type ConsentProblem =
  | OpenIdFault
  /** The link or the return was used before, is too old, or never existed. */
  | "expired"
  /** The consent began in another browser. */
  | "other-browser"
  /** Who asked for it is no longer a member of the organization. */
  | "no-access"
  /** The operator has removed the app. */
  | "no-app"
  /** The connection was deleted while the person was at the app. */
  | "gone"
  /** The account has as many connections as its plan allows. */
  | "limit-reached"
  /** Too many returns wait for their apps. */
  | "busy";

/** A consent that led to no connection. `code` is the app's error code. */
export class ConsentFailed extends Error {
  readonly problem: ConsentProblem;
  readonly code: string | undefined;

  constructor(problem: ConsentProblem, code?: string) {
    super(code === undefined ? problem : `${problem}: ${code}`);
    this.name = "ConsentFailed";
    this.problem = problem;
    this.code = code;
  }
}
