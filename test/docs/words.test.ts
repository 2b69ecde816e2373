import { expect } from "chai";
import { read } from "./repository.ts";
import { takeApart } from "./source-text.ts";
import {
  findInCode,
  findInDocuments,
  findInOpenapi,
  findInSources,
  findInText,
  type Hit,
  readTerms,
} from "./words.ts";

interface Allowance {
  term: string;
  /** Files; every file unless given. */
  file?: RegExp;
  /** The identifier, or the phrase with its neighbours. */
  text: RegExp;
  reason: string;
}

/** Where an unused word is right, and why. Whatever is not here is an error: add to it only with a reason. */
const ALLOWED: Allowance[] = [
  { term: "is no", text: /\bthere is no\b/i, reason: "plain English: something does not exist" },
  { term: "are no", text: /\bthere are no\b/i, reason: "plain English: something does not exist" },
  { term: "is no", text: /\bis no (longer|more|less)\b/i, reason: "plain English" },
  { term: "are no", text: /\bare no (longer|more|less)\b/i, reason: "plain English" },
  {
    term: "answer*",
    file: /^docs\/gallery-components\.md$/,
    text: /poll_answer|^answers$/,
    reason: "a name of Telegram's, and a field of Typeform's",
  },
  {
    term: "directory",
    file: /^src\/sandbox\//,
    text: /directory/i,
    reason: "the private folder of a sandbox; the routing cache was the directory",
  },
  { term: "directory", text: /\b(is|with)?Directory\b/, reason: "names in Node's fs module" },
  {
    term: "directory",
    file: /^script\/lib\/packages\.mjs$/,
    text: /^directory$/,
    reason: "a field of package.json",
  },
  {
    term: "handed out",
    file: /^(src|test)\/egress\//,
    text: /\bnot (yet )?handed out\b/,
    reason: "ranges of addresses, which IANA hands out",
  },
  {
    term: "deaths",
    file: /^script\/lib\/supervisor\.mjs$/,
    text: /deaths/i,
    reason: "ends of processes that npm start watches; a crash is a worker's, under a run",
  },
  {
    term: "postponed",
    file: /^src\/deliveries\/sweep\.ts$/,
    text: /postponed/,
    reason: "the next check of a delivery; a job is snoozed",
  },
];

const isAllowed = (hit: Hit): boolean =>
  ALLOWED.some(
    ({ term, file, text }) => term === hit.term && text.test(hit.text) && (!file || file.test(hit.file)),
  );

const terms = readTerms(read("docs/glossary.md"));

/** Fails with one line for each hit: where it is, and the word to write instead. */
function expectNone(found: Hit[]): void {
  const hits = found.filter(hit => !isAllowed(hit));
  const lines = hits.map(
    ({ file, line, text, term, instead }) => `${file}:${line} "${text}" has ${term}: write ${instead}`,
  );
  if (lines.length > 0) expect.fail(`${lines.length} unused words (docs/glossary.md):\n${lines.join("\n")}`);
}

describe("the glossary's unused words", () => {
  it("are read from the glossary", () => {
    expect(terms.length).to.be.greaterThan(60);
    expect(terms.find(({ term }) => term === "lane*")?.instead).to.equal("permit");
    expect(terms.find(({ term }) => term === "anew")?.instead).to.match(/again/);
  });

  it("do not occur in identifiers, file names, comments and messages", () => {
    expectNone(findInSources(terms));
  });

  it("do not occur in what readers of openapi.json see", () => {
    expectNone(findInOpenapi(terms));
  });

  it("do not occur in documents", () => {
    expectNone(findInDocuments(terms));
  });
});

describe("the search for unused words", () => {
  const term = (text: string) => [{ term: text, instead: "" }];
  const inText = (text: string, wanted: string) => findInText(text, term(wanted)).map(hit => hit.line);
  const inCode = (text: string, wanted: string) => findInCode(text, term(wanted)).map(hit => hit.text);

  it("finds a phrase over a line's end, with the line of its first word", () => {
    expect(inText("one\nfresh start\nover", "start over")).to.deep.equal([2]);
  });

  it("finds no phrase across a full stop or a comma", () => {
    expect(inText("a start. Over it goes", "start over")).to.deep.equal([]);
    expect(inText("a start, over all", "start over")).to.deep.equal([]);
  });

  it("matches any ending where the term ends in a star, and whole words elsewhere", () => {
    expect(inText("sprouts sprouting", "sprout*")).to.have.length(2);
    expect(inText("sprouts", "sprout")).to.deep.equal([]);
  });

  it("finds a number with its unit before the words that belong in front of it", () => {
    expect(inText("64 KB at most", "N at most")).to.deep.equal([1]);
    expect(inText("3 at most", "N at most")).to.deep.equal([1]);
    expect(inText("at most 64 KB", "N at most")).to.deep.equal([]);
    expect(inText("more than 0 and at most 24", "N at most")).to.deep.equal([]);
  });

  it("splits identifiers however they are written", () => {
    expect(inCode("const openSprouts = SPROUT_MS + a.sprout_at;", "sprout*")).to.deep.equal([
      "openSprouts",
      "SPROUT_MS",
      "sprout_at",
    ]);
    expect(inCode("startOver()", "start over")).to.deep.equal(["startOver"]);
  });

  it("finds a function's name and not a variable of that name", () => {
    expect(inCode("let sprout = 1;\nsprout();", "sprout()")).to.deep.equal(["sprout"]);
    expect(inCode("let sprout = 1;", "sprout()")).to.deep.equal([]);
  });
});

describe("a source taken apart", () => {
  it("has its comments, strings and regular expressions taken out of the code", () => {
    const { code, comments, strings } = takeApart(
      "a.ts",
      'const a = "// no"; // yes\n// and more\nconst r = /"/;',
    );
    expect(code.replaceAll(/ +/g, " ").trim()).to.equal("const a = ; \n \nconst r = 0;");
    expect(comments).to.deep.equal([{ line: 1, text: " yes\n and more" }]);
    expect(strings).to.deep.equal([{ line: 1, text: "// no" }]);
  });

  it("keeps what stands between the texts of a template literal", () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: source code in a string
    const { code, strings } = takeApart("a.ts", "f(`one ${g({ a: `two` })} three`)");
    expect(code.replaceAll(/ +/g, " ")).to.equal("f( g({ a: }) )");
    expect(strings.map(({ text }) => text)).to.deep.equal(["one ", "two", "0 three"]);
  });

  it("knows the comments of Lua and of shell scripts", () => {
    expect(takeApart("a.lua", "-- one\nlocal a = '--'").comments).to.deep.equal([{ line: 1, text: " one" }]);
    expect(takeApart("script/a", 'a=$# # two\nc="#"').comments).to.deep.equal([{ line: 1, text: " two" }]);
  });
});
