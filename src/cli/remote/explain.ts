import { ApiError, ConnectionError, HeadwaterError } from "../../../clients/typescript/src/index.ts";
import { AppError, type ErrorCode } from "../../lib/errors.ts";

/** The codes that are the same on both sides; others count as `invalid`. */
const CODES = new Set<string>([
  "unauthenticated",
  "forbidden",
  "limit-reached",
  "not-found",
  "conflict",
  "too-large",
  "rate-limited",
  "unavailable",
  "timeout",
] satisfies ErrorCode[]);

/** Returns an error of the client as one line for a person: which server, what it said, and what to do. */
export function explain(error: unknown, url: string): unknown {
  if (error instanceof ApiError) {
    const code = CODES.has(error.code) ? (error.code as ErrorCode) : "invalid";
    return new AppError(code, `${url} returned ${error.status}: ${sentenceOf(error)}`, { cause: error });
  }
  if (error instanceof ConnectionError) {
    const reason = withoutRequest(error.message).replace(/^no response \((.*)\)$/s, "$1");
    return new AppError("unavailable", `no response from ${url}: ${reason}`, { cause: error });
  }
  if (error instanceof HeadwaterError) {
    return new AppError("invalid", `${url}: ${withoutRequest(error.message)}`, { cause: error });
  }
  return error;
}

function sentenceOf({ status, detail: said, requestId, code }: ApiError): string {
  const detail = code === "" ? "without a reason; is it a Headwater server?" : said;
  if (status === 401) return `${detail}; run headwater login`;
  return status >= 500 && requestId !== null
    ? `${detail} (request ${requestId} in the server's log)`
    : detail;
}

/** The client's messages begin with the request: `GET /v1/sources: `. */
const withoutRequest = (message: string) => message.replace(/^[A-Z]+ \/\S*: /, "");
