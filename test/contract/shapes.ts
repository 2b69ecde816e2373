import { expect } from "chai";
import type { ApiAnswer, Problem } from "../support/api.ts";

/** Ids of rest-api.md, section 2: a prefix and 16 URL-safe characters. */
export function isIdOf(prefix: string, id: unknown): void {
  expect(id).to.match(new RegExp(`^${prefix}_[A-Za-z0-9_-]{16}$`));
}

/** Unix seconds, of these last minutes. */
export function isRecent(at: unknown): void {
  expect(Number.isInteger(at), `${at} is an integer`).to.equal(true);
  expect(Number(at)).to.be.closeTo(Date.now() / 1000, 300);
}

/** A refusal of the request as a whole: the status, and `error` as text, as clients of this kind of API read it. */
export function refused(answer: ApiAnswer<Problem>, status: number): Problem {
  expect(answer.status, answer.text).to.equal(status);
  expect(answer.headers.get("content-type")).to.match(/^application\/problem\+json/);
  expect(answer.body.error).to.be.a("string").and.equal(answer.body.detail);
  return answer.body;
}

/** A 400 that names these places, such as `body configured_props.timer`, in this order. */
export function names(answer: ApiAnswer<Problem>, ...places: string[]): void {
  const { errors = [] } = refused(answer, 400);
  expect(errors.map(error => `${error.in} ${error.path}`)).to.deep.equal(places);
}
