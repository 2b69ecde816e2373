/** What can be wrong with a request, or with the receiver itself. */
export type WebhookErrorCode =
  | "body-parsed"
  | "secret-invalid"
  | "header-missing"
  | "header-invalid"
  | "too-old"
  | "too-new"
  | "signature-mismatch"
  | "payload-invalid"
  | "too-large";

/** The first two are the receiver's own faults. */
const STATUSES: Record<WebhookErrorCode, number> = {
  "body-parsed": 500,
  "secret-invalid": 500,
  "header-missing": 400,
  "header-invalid": 400,
  "too-old": 401,
  "too-new": 401,
  "signature-mismatch": 401,
  "payload-invalid": 400,
  "too-large": 413,
};

/** A request that is not a genuine delivery, or that can't be checked. Its message contains no secret. */
export class WebhookError extends Error {
  override name = "WebhookError";
  readonly code: WebhookErrorCode;
  /** The HTTP status to respond with: 500 if the receiver is at fault and not the request. */
  readonly status: number;

  constructor(code: WebhookErrorCode, message: string) {
    super(message);
    this.code = code;
    this.status = STATUSES[code];
  }
}

/** The receiver needs the exact bytes that were signed, and something before it has read them. */
export const bodyParsed = (what: string): WebhookError =>
  new WebhookError(
    "body-parsed",
    `${what}: the signature is of the exact bytes of the body, so mount this before the JSON parser`,
  );
