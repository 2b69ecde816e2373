import { expect } from "chai";
import { checkUrl } from "../../src/egress/check-url.ts";
import { AppError } from "../../src/lib/errors.ts";

describe("checkUrl", () => {
  for (const url of [
    "http://a.test",
    "https://a.test:8443/p?q=1",
    "HTTPS://A.test",
    "http://[2606:4700::1]/",
  ]) {
    it(`accepts ${url}`, () => expect(checkUrl(url)).to.be.instanceOf(URL));
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
  ];
  for (const url of rejected) {
    it(`rejects "${url}" and names the field`, () => {
      expect(() => checkUrl(url, { in: "body", path: "component_url" }))
        .to.throw(AppError)
        .with.nested.property("fields[0].path", "component_url");
    });
  }
});
