import { literal, NOT_IN_TEXT, oneOf, type Rules, UnsupportedSchema } from './rules.ts';

/** Characters of a class, without the brackets, as GBNF writes them. */
const CLASSES: Readonly<Record<string, string>> = {
  d: '0-9',
  w: 'A-Za-z0-9_',
  s: ' ',
};
const MAX_REPEATS = 1000;
const LONGEST_COUNTS = '1000,1000}'.length;

/**
 * The grammar of a regular expression made of characters, classes, groups, `|` and repetitions. An
 * expression that is not anchored matches a part of a text; the grammar then makes just that part.
 *
 * @throws UnsupportedSchema for look-around, back references and other constructs.
 */
export function patternGrammar(pattern: string, path: string, rules: Rules): string {
  return new PatternReader(pattern, path, rules).read();
}

class PatternReader {
  readonly #characters: readonly string[];
  readonly #path: string;
  readonly #rules: Rules;
  #at = 0;

  constructor(pattern: string, path: string, rules: Rules) {
    this.#characters = [...pattern];
    this.#path = path;
    this.#rules = rules;
  }

  read(): string {
    const all = this.#alternatives();
    if (this.#at < this.#characters.length) throw this.#unsupported(')');
    return all;
  }

  #alternatives(): string {
    const found = [this.#sequence()];
    while (this.#take('|')) found.push(this.#sequence());
    return oneOf(found);
  }

  #sequence(): string {
    const items: string[] = [];
    const begun = this.#at;
    while (this.#at < this.#characters.length && !['|', ')'].includes(this.#peek())) {
      const item = this.#item(begun);
      if (item !== null) items.push(item);
    }
    return items.length === 0 ? '""' : items.join(' ');
  }

  #item(begun: number): string | null {
    if (this.#peek() === '^' && this.#at === begun) return this.#skip();
    if (this.#peek() === '$' && this.#isEnd(this.#at + 1)) return this.#skip();
    return this.#repeated(this.#atom());
  }

  #skip(): null {
    this.#at += 1;
    return null;
  }

  #isEnd(at: number): boolean {
    return at >= this.#characters.length || ['|', ')'].includes(this.#characters[at] as string);
  }

  #atom(): string {
    const character = this.#next();
    if (character === '(') return this.#group();
    if (character === '[') return this.#class();
    if (character === '.') return `[^${NOT_IN_TEXT}]`;
    if (character === '\\') return this.#escaped();
    if ('*+?{}^$]'.includes(character)) throw this.#unsupported(character);
    return literalInText(character);
  }

  #group(): string {
    if (this.#take('?') && !this.#take(':')) throw this.#unsupported('(?');
    const inner = this.#alternatives();
    if (!this.#take(')')) throw this.#unsupported('(');
    return `(${inner})`;
  }

  #escaped(): string {
    const character = this.#next();
    const known = CLASSES[character];
    if (known !== undefined) return `[${known}]`;
    const opposite = CLASSES[character.toLowerCase()];
    if (opposite !== undefined) return `[^${opposite}${NOT_IN_TEXT}]`;
    if (/[A-Za-z0-9]/.test(character)) throw this.#unsupported(`\\${character}`);
    return literalInText(character);
  }

  #class(): string {
    const negated = this.#take('^');
    let inside = '';
    while (this.#peek() !== ']') inside += this.#member(negated);
    this.#at += 1;
    if (inside === '') throw this.#unsupported('[]');
    return negated ? `[^${inside}${NOT_IN_TEXT}]` : `[${inside}]`;
  }

  #member(negated: boolean): string {
    const character = this.#next();
    if (character === '\\') {
      const escaped = this.#next();
      const known = CLASSES[escaped];
      if (known !== undefined) return known;
      if (/[A-Za-z0-9]/.test(escaped)) throw this.#unsupported(`\\${escaped}`);
      return this.#single(escaped, negated);
    }
    const isRange = this.#peek() === '-' && ![']', '\\'].includes(this.#characters[this.#at + 1]!);
    if (!isRange) return this.#single(character, negated);
    this.#at += 1;
    const last = this.#next();
    if (character <= last && !coversForbidden(character, last))
      return `${inClass(character)}-${inClass(last)}`;
    throw this.#unsupported(`${character}-${last}`);
  }

  #single(character: string, negated: boolean): string {
    // Text contains these characters only as an escape of two characters.
    if (!negated && isForbidden(character)) throw this.#unsupported(character);
    return inClass(character);
  }

  #repeated(atom: string): string {
    const [least, most] = this.#counts();
    if (least === null) return atom;
    if (this.#peek() === '?' || this.#peek() === '+') throw this.#unsupported(this.#peek());
    const rule = this.#rules.add(atom);
    return `${rule}{${least},${most === Infinity ? '' : most}}`;
  }

  #counts(): [least: number | null, most: number] {
    if (this.#take('*')) return [0, Infinity];
    if (this.#take('+')) return [1, Infinity];
    if (this.#take('?')) return [0, 1];
    if (!this.#take('{')) return [null, 1];
    // Not the whole rest: a pattern may have very many repetitions.
    const rest = this.#characters.slice(this.#at, this.#at + LONGEST_COUNTS).join('');
    const [whole, from, comma, to] = /^(\d+)(,?)(\d*)\}/.exec(rest) ?? [];
    if (whole === undefined) throw this.#unsupported('{');
    this.#at += whole.length;
    const least = Number(from);
    const most = comma === '' ? least : to === '' ? Infinity : Number(to);
    if (least > MAX_REPEATS || (most !== Infinity && most > MAX_REPEATS) || most < least)
      throw this.#unsupported(`{${whole}`);
    return [least, most];
  }

  #peek(): string {
    return this.#characters[this.#at] ?? '';
  }

  #next(): string {
    const character = this.#characters[this.#at];
    if (character === undefined) throw this.#unsupported('an end that is too early');
    this.#at += 1;
    return character;
  }

  #take(character: string): boolean {
    if (this.#peek() !== character) return false;
    this.#at += 1;
    return true;
  }

  #unsupported(what: string): UnsupportedSchema {
    return new UnsupportedSchema(this.#path, `has ${what}, which no grammar can keep here`);
  }
}

/** A character of the value, as it is written inside a JSON text. */
const literalInText = (character: string) => literal(JSON.stringify(character).slice(1, -1));

const isForbidden = (character: string) =>
  character === '"' || character === '\\' || character < ' ' || character === '\x7F';

const coversForbidden = (first: string, last: string) =>
  ['"', '\\', '\x1F', '\x7F'].some((character) => first <= character && character <= last);

function inClass(character: string): string {
  if (character < ' ' || character === '\x7F')
    return `\\x${character.codePointAt(0)!.toString(16).padStart(2, '0')}`;
  return /[\]\\^-]/.test(character) ? `\\${character}` : character;
}
