/**
 * Characters that the text of a JSON string never contains as they are. Numbers after the last
 * character of Unicode are what llama.cpp makes of bytes that are no UTF-8.
 */
export const NOT_IN_TEXT = '"\\\\\\x00-\\x1F\\x7F\\uD800-\\uDFFF\\U00110000-\\U003FFFFF';

/** llama.cpp reads a grammar in full for each answer, so its size is limited. */
const MAX_RULES = 4000;

/** The rules of one grammar in GBNF, the notation of llama.cpp. */
export class Rules {
  readonly #bodies = new Map<string, string>();
  readonly #names = new Map<string, string>();
  #last = 0;

  /** The name of the rule with this body. Equal bodies share a rule. */
  add(body: string): string {
    if (/^r\d+$/.test(body)) return body;
    const known = this.#names.get(body);
    if (known !== undefined) return known;
    const name = this.reserve();
    this.#names.set(body, name);
    this.#bodies.set(name, body);
    return name;
  }

  /** A name whose body follows, so that a rule may contain itself. */
  reserve(): string {
    this.#last += 1;
    if (this.#last > MAX_RULES)
      throw new UnsupportedSchema('', 'is too large: simplify the schema');
    return `r${this.#last}`;
  }

  define(name: string, body: string): void {
    this.#bodies.set(name, body);
  }

  /** The whole grammar, which begins with `root`. */
  print(root: string): string {
    const lines = [...this.#bodies].map(([name, body]) => `${name} ::= ${body}`);
    return [`root ::= ${root}`, ...lines, ''].join('\n');
  }
}

/** Text in the notation of GBNF. */
export function literal(text: string): string {
  const escaped = text.replaceAll(/["\\\n\r\t]/g, (character) => ESCAPES[character] as string);
  return `"${escaped}"`;
}

const ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

/** A value as it stands in a JSON text. */
export const jsonLiteral = (value: unknown): string => literal(JSON.stringify(value));

/** One of several expressions. */
export const oneOf = (expressions: readonly string[]): string =>
  expressions.length === 1 ? (expressions[0] as string) : `(${expressions.join(' | ')})`;

/** A word or a value of a JSON Schema that the grammar cannot keep. `path` is where it stands. */
export class UnsupportedSchema extends Error {
  readonly code = 'SCHEMA_UNSUPPORTED';
  readonly path: string;

  constructor(path: string, reason: string) {
    super(`${path} ${reason}`);
    this.path = path;
  }
}
