import { failure } from '@twofold/runtime/errors';
import { below, isMapping } from './problems.ts';

type Variables = Readonly<Record<string, string>>;

/** The most characters of all values together, and of values in all. */
const MOST_CHARACTERS = 4 * 1024 * 1024;
const MOST_VALUES = 50_000;
/** Levels of variables in defaults, and of the file: aliases can make a circle. */
const DEEPEST = 20;
const DEEPEST_FILE = 60;

/**
 * Replaces `${NAME}` in all texts of a file, as Compose does: `${A:-default}`, `${A-default}`,
 * `${A:?why}`, `${A?why}`, `${A:+other}`, `${A+other}`, `$A`, and `$$` for a dollar.
 *
 * @throws AppError 400 for a variable that is demanded and absent, and for what is none of these.
 * @example interpolateAll({ image: 'web:${TAG:-1}' }, {}) // { image: 'web:1' }
 */
export function interpolateAll(file: unknown, variables: Variables): unknown {
  let characters = 0;
  let values = 0;
  const visit = (value: unknown, path: string, depth = 0): unknown => {
    values += 1;
    if (depth > DEEPEST_FILE)
      throw failure.badRequest(
        'The compose file is nested too deeply, or its aliases are a circle',
      );
    if (values > MOST_VALUES) throw failure.badRequest('The compose file has too many values');
    if (typeof value === 'string') {
      const text = value.includes('$') ? interpolate(value, variables, path) : value;
      // What is read counts too: aliases repeat a text, and a long one may become a short one.
      characters += Math.max(value.length, text.length);
      if (characters > MOST_CHARACTERS) throw tooLong();
      return text;
    }
    if (Array.isArray(value))
      return value.map((item, index) => visit(item, below(path, index), depth + 1));
    if (!isMapping(value)) return value;
    const entries = Object.entries(value);
    return Object.fromEntries(
      entries.map(([key, item]) => [key, visit(item, below(path, key), depth + 1)]),
    );
  };
  return visit(file, '');
}

const tooLong = () => failure.badRequest('The values of the compose file are too long');

/** `$$`, `$NAME`, or the beginning of `${NAME…`. */
const START = /\$(?:(\$)|([A-Za-z_]\w*)|\{([A-Za-z_]\w*))?/g;
const OPERATOR = /^(:?[-?+])/;

function interpolate(text: string, variables: Variables, path: string, depth = 0): string {
  const malformed = () => failure.badRequest(`${path} has a $ that begins no variable: write $$`);
  if (depth > DEEPEST) throw malformed();
  let result = '';
  let at = 0;
  for (;;) {
    if (result.length > MOST_CHARACTERS) throw tooLong();
    START.lastIndex = at;
    const match = START.exec(text);
    if (!match) return result + text.slice(at);
    const [whole, dollar, plain, braced] = match;
    result += text.slice(at, match.index);
    at = match.index + whole.length;
    if (dollar) result += '$';
    else if (plain) result += Object.hasOwn(variables, plain) ? variables[plain]! : '';
    else if (braced) {
      const end = endOf(text, at);
      if (end < 0) throw malformed();
      const resolve = (rest: string) => interpolate(rest, variables, path, depth + 1);
      const value = valueOf({ name: braced, rest: text.slice(at, end), path }, variables, resolve);
      if (value === null) throw malformed();
      result += value;
      at = end + 1;
    } else throw malformed();
  }
}

interface Braced {
  readonly name: string;
  /** What stands between the name and the closing brace. */
  readonly rest: string;
  readonly path: string;
}

/** @returns null when it is not well formed. */
function valueOf(
  { name, rest, path }: Braced,
  variables: Variables,
  resolve: (text: string) => string,
): string | null {
  const given = Object.hasOwn(variables, name) ? variables[name]! : undefined;
  if (rest === '') return given ?? '';
  const operator = OPERATOR.exec(rest)?.[1];
  if (operator === undefined) return null;
  const other = rest.slice(operator.length);
  const isSet = operator.startsWith(':') ? Boolean(given) : given !== undefined;
  if (operator.endsWith('+')) return isSet ? resolve(other) : '';
  if (isSet) return given!;
  if (operator.endsWith('-')) return resolve(other);
  throw failure.badRequest(`${path} needs ${name} in env${other ? `: ${resolve(other)}` : ''}`);
}

/** The position of the brace that closes the one before `from`; -1 when there is none. */
function endOf(text: string, from: number): number {
  let open = 1;
  for (let at = from; at < text.length; at += 1) {
    if (text.startsWith('${', at)) open += 1;
    else if (text[at] === '}') open -= 1;
    if (open === 0) return at;
  }
  return -1;
}
