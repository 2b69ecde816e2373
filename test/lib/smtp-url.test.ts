import { expect } from "chai";
import { MAIL_FROM, parseSmtpUrl } from "../../src/lib/smtp-url.ts";

describe("the address of a mail server", () => {
  it("has a port by its scheme, and TLS", () => {
    expect(parseSmtpUrl("smtp://mail.example.com")).to.deep.equal({
      host: "mail.example.com",
      port: 587,
      isTls: false,
      requiresTls: false,
      user: undefined,
      password: undefined,
    });
    expect(parseSmtpUrl("smtps://mail.example.com")).to.include({
      port: 465,
      isTls: true,
      requiresTls: true,
    });
    expect(parseSmtpUrl("smtp://[::1]:25/")).to.include({ host: "::1", port: 25 });
  });

  it("has a user and a password, percent-encoded, which never go in the clear", () => {
    expect(parseSmtpUrl("smtp://a%40b:p%2Fq@mail.example.com:2525")).to.include({
      user: "a@b",
      password: "p/q",
      port: 2525,
      isTls: false,
      requiresTls: true,
    });
  });

  for (const text of [
    "mail.example.com",
    "http://mail.example.com",
    "smtp://",
    "smtp://mail.example.com/path",
    "smtp://mail.example.com?tls=no",
    "smtp://user@mail.example.com",
    "smtp://a:%zz@mail.example.com",
  ]) {
    it(`is not ${text}`, () => expect(() => parseSmtpUrl(text)).to.throw(/^(must|needs|has)/));
  }

  it("is not in the message about a wrong one", () => {
    for (const text of ["smtp://u:secret@host/path", "ftp://u:secret@host", "smtp://u:secret%zz@host"]) {
      expect(() => parseSmtpUrl(text))
        .to.throw()
        .with.property("message")
        .that.does.not.contain("secret");
    }
  });
});

describe("a sender of mail", () => {
  it("is an address, or a name and an address", () => {
    for (const good of ["a@b.example", "Headwater <a@b.example>", "<a@b.example>"])
      expect(good).to.match(MAIL_FROM);
    for (const bad of ["a", "a@b\nBcc: c@d", "A <a@b>, B <c@d>", "a@b c@d", '"x" <a@b>']) {
      expect(bad).not.to.match(MAIL_FROM);
    }
  });
});
