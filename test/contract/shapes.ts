import { expect } from "chai";
import type { ApiResponse, Problem } from "../support/api.ts";

/** Expects an id: a prefix and 16 URL-safe characters (docs/rest-api.md#resources). */
export function isIdOf(prefix: string, id: unknown): void {
  expect(id).to.match(new RegExp(`^${prefix}_[A-Za-z0-9_-]{16}$`));
}

/** Expects Unix seconds of the last minutes. */
export function isRecent(at: unknown): void {
  expect(Number.isInteger(at), `${at} is an integer`).to.equal(true);
  expect(Number(at)).to.be.closeTo(Date.now() / 1000, 300);
}

/** Expects a problem with this status, and with the `error` that existing clients read. */
export function rejected(response: ApiResponse<Problem>, status: number): Problem {
  expect(response.status, response.text).to.equal(status);
  expect(response.headers.get("content-type")).to.match(/^application\/problem\+json/);
  expect(response.body.error).to.be.a("string").and.equal(response.body.detail);
  return response.body;
}

/** Expects a 400 with errors for these fields, such as `body configured_props.timer`, in this order. */
export function names(response: ApiResponse<Problem>, ...fields: string[]): void {
  const { errors = [] } = rejected(response, 400);
  expect(errors.map(error => `${error.in} ${error.path}`)).to.deep.equal(fields);
}
