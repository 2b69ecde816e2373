/** A piece of a file and the line on which it starts, counted from 1. */
export interface Piece {
  line: number;
  text: string;
}

/** A source file taken apart. */
export interface SourceText {
  /** The source with its comments, strings and regular expressions blanked; lines stay where they are. */
  code: string;
  /** Comments without their markers; line comments on adjacent lines are one. */
  comments: Piece[];
  /** The texts of strings and template literals, without quotes. */
  strings: Piece[];
}

/** Takes a source apart by the language that its name says: TypeScript and JavaScript, Lua, or a shell script. */
export function takeApart(path: string, source: string): SourceText {
  if (path.endsWith(".lua")) return new Scanner(source, "--").scan();
  return /\.[cm]?[jt]s$/.test(path) || /^#!.*\bnode\b/.test(source)
    ? new Scanner(source, "//").scan()
    : new Scanner(source, "#").scan();
}

type LineComment = "//" | "--" | "#";

/** After these a slash starts a regular expression; after anything else it divides. */
const BEFORE_REGEX =
  /(^|[([{}=,;:!&|?+\-*%<>~^]|\b(return|typeof|case|in|of|delete|void|throw|new|else|do|await))$/;

class Scanner {
  readonly #source: string;
  readonly #marker: LineComment;
  readonly #comments: Piece[] = [];
  readonly #strings: Piece[] = [];
  #code = "";
  #at = 0;
  #line = 1;
  /** For each open template literal: how many braces of its expression are open. */
  #templates: number[] = [];

  constructor(source: string, marker: LineComment) {
    this.#source = source;
    this.#marker = marker;
  }

  scan(): SourceText {
    while (this.#at < this.#source.length) this.#next();
    return { code: this.#code, comments: joinAdjacent(this.#comments), strings: this.#strings };
  }

  #next(): void {
    const rest = this.#source.slice(this.#at, this.#at + 2);
    const char = rest.charAt(0);
    const isScript = this.#marker === "//";
    if (this.#isLineComment(rest)) this.#lineComment();
    else if (isScript && rest === "/*") this.#blockComment();
    else if (char === '"' || char === "'") this.#string(char);
    else if (isScript && (char === "`" || this.#endsExpression(char))) this.#template();
    else if (isScript && char === "/" && this.#startsRegex()) this.#regex();
    else this.#keep(1);
  }

  /** Counts the braces inside a template's expression; returns true at the one that ends it. */
  #endsExpression(char: string): boolean {
    const open = this.#templates.at(-1);
    if (open === undefined || (char !== "{" && char !== "}")) return false;
    if (char === "}" && open === 0) {
      this.#templates.pop();
      return true;
    }
    this.#templates[this.#templates.length - 1] = open + (char === "{" ? 1 : -1);
    return false;
  }

  #isLineComment(rest: string): boolean {
    if (this.#marker !== "#") return rest === this.#marker;
    return rest.startsWith("#") && /(^|\s)$/.test(this.#source.slice(Math.max(0, this.#at - 1), this.#at));
  }

  #lineComment(): void {
    const end = this.#source.indexOf("\n", this.#at);
    const text = this.#source.slice(this.#at, end < 0 ? undefined : end);
    this.#comments.push({ line: this.#line, text: text.slice(this.#marker.length) });
    this.#blank(text.length);
  }

  #blockComment(): void {
    const end = this.#source.indexOf("*/", this.#at + 2);
    const text = this.#source.slice(this.#at + 2, end < 0 ? undefined : end);
    this.#comments.push({ line: this.#line, text: text.replace(/^[ \t]*\* ?/gm, "").replace(/^\*/, "") });
    this.#blank(text.length + (end < 0 ? 2 : 4));
  }

  #string(quote: string): void {
    let end = this.#at + 1;
    while (end < this.#source.length && this.#source[end] !== quote) {
      if (this.#source[end] === "\n" && this.#marker === "//") break;
      end += this.#source[end] === "\\" ? 2 : 1;
    }
    this.#strings.push({ line: this.#line, text: this.#source.slice(this.#at + 1, end) });
    this.#blank(end + 1 - this.#at);
  }

  /** One text of a template literal: up to its end, or to the next expression in it. */
  #template(): void {
    let end = this.#at + 1;
    while (end < this.#source.length && this.#source[end] !== "`") {
      if (this.#source[end] === "$" && this.#source[end + 1] === "{") break;
      end += this.#source[end] === "\\" ? 2 : 1;
    }
    // The text goes on after an expression, of which a number is left: messages such as `${n} at most` are found by it.
    const before = this.#source[this.#at] === "}" ? "0" : "";
    this.#strings.push({ line: this.#line, text: before + this.#source.slice(this.#at + 1, end) });
    const isExpression = this.#source[end] === "$";
    this.#blank(end + (isExpression ? 2 : 1) - this.#at);
    if (isExpression) this.#templates.push(0);
  }

  #startsRegex(): boolean {
    return BEFORE_REGEX.test(this.#code.trimEnd().slice(-12));
  }

  #regex(): void {
    let end = this.#at + 1;
    let isClass = false;
    while (end < this.#source.length && (isClass || this.#source[end] !== "/")) {
      if (this.#source[end] === "[") isClass = true;
      if (this.#source[end] === "]") isClass = false;
      end += this.#source[end] === "\\" ? 2 : 1;
    }
    this.#blank(end + 1 - this.#at);
    // A regular expression is a value: a slash after it divides.
    this.#code = `${this.#code.slice(0, -1)}0`;
  }

  #keep(length: number): void {
    const text = this.#source.slice(this.#at, this.#at + length);
    this.#code += text;
    this.#advance(text);
  }

  #blank(length: number): void {
    const text = this.#source.slice(this.#at, this.#at + length);
    this.#code += text.replace(/[^\n]/g, " ");
    this.#advance(text);
  }

  #advance(text: string): void {
    this.#at += text.length;
    this.#line += text.split("\n").length - 1;
  }
}

function joinAdjacent(comments: Piece[]): Piece[] {
  const joined: Piece[] = [];
  let lastLine = -1;
  for (const { line, text } of comments) {
    const last = joined.at(-1);
    if (last && line === lastLine + 1) last.text += `\n${text}`;
    else joined.push({ line, text });
    lastLine = line + text.split("\n").length - 1;
  }
  return joined;
}
