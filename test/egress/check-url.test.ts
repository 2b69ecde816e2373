import { expect } from "chai";
import { checkUrl, readUrl } from "../../src/egress/check-url.ts";
import { AppError } from "../../src/lib/errors.ts";

const FIELD = { in: "body", path: "component_url" } as const;

describe("checkUrl", () => {
  for (const url of [
    "http://a.test",
    "https://a.test:8443/p?q=1",
    "HTTPS://A.test",
    "http://[2606:4700::1]/",
  ]) {
    it(`accepts ${url}`, () => expect(checkUrl(url, FIELD)).to.be.instanceOf(URL));
  }

  const rejected = [
    "",
    "a.test/path",
    "//a.test",
    "ftp://a.test",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "http:a.test",
    "http://",
    "https:///",
    "http://user@a.test",
    "http://user:pass@a.test",
    "http://a.test:99999",
    "http://a b.test",
    "http://a.test/\r\nx-header: 1",
    "http://a.test/\n",
    "http://a.\ttest/",
    "http://a.test/\0",
    "http://a.test/\x7f",
    "http://a.test/\x85",
    " http://a.test/",
    "http://a.test/ ",
    "http://a.test/\u00a0",
    "\ufeffhttp://a.test/",
  ];
  for (const url of rejected) {
    it(`rejects ${JSON.stringify(url)} and names the field`, () => {
      expect(() => checkUrl(url, FIELD))
        .to.throw(AppError)
        .with.nested.property("fields[0].path", "component_url");
    });
  }

  it("accepts a blank within, which is encoded", () => {
    expect(checkUrl("http://a.test/b c", FIELD).pathname).to.equal("/b%20c");
  });
});

describe("readUrl", () => {
  it("reads what earlier releases stored as it was called then", () => {
    expect(readUrl("http://a.test/b\n ", FIELD).href).to.equal("http://a.test/b");
    expect(readUrl("http://a.test/\0b", FIELD).href).to.equal("http://a.test/%00b");
  });
});
