import { raw, type Code } from './code.ts';

/** A value of a literal: data, or code in the place of a value. */
export type LiteralValue =
  | string
  | number
  | boolean
  | null
  | undefined
  | Code
  | Tall
  | readonly LiteralValue[]
  | { readonly [key: string]: LiteralValue };

/** An object that is always printed with one member per line. */
export class Tall {
  readonly members: { readonly [key: string]: LiteralValue };
  constructor(members: { readonly [key: string]: LiteralValue }) {
    this.members = members;
  }
}

const WIDTH = 120;
/** Columns that are kept free for what may stand before a literal: `const apps = `, or a name. */
const MARGIN = 13;

/** Characters that need no escape in any kind of quotes. */
const PLAIN = /^[\w .,:;!?()[\]{}<>=|&*+/@#%^~-]*$/;

/** A string literal whose value is exactly `text`, with all necessary escapes. */
export function str(text: string): string {
  if (PLAIN.test(text)) return `'${text}'`;
  const body = JSON.stringify(text)
    .slice(1, -1)
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029');
  if (text.includes("'") && !text.includes('"')) return `"${body}"`;
  return `'${body.replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}

/** A doc comment, or nothing when there is no text. The text cannot end the comment early. */
export function doc(text: string | undefined): string {
  if (!text) return '';
  const lines = text
    .replaceAll('*/', '*\\/')
    .split(/\r\n|\r|\n/)
    .map((line) => line.trimEnd());
  return lines.length === 1
    ? `/** ${lines[0]} */`
    : `/**\n${lines.map((line) => (line ? ` * ${line}` : ' *')).join('\n')}\n */`;
}

/** A property name, without quotes if the language allows it. */
export function propertyName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) && name !== '__proto__'
    ? name
    : name === '__proto__'
      ? `['__proto__']`
      : str(name);
}

/**
 * Prints data: on one line if it fits, otherwise one member per line. Undefined members are left
 * out. `indent` is the column in which the first line starts. With `open` the outermost object is
 * always printed on several lines.
 *
 * @example
 * literal({ title: { type: 'text!' } }).text // "{ title: { type: 'text!' } }"
 */
export function literal(
  value: LiteralValue,
  { indent = 0, open = false }: { indent?: number; open?: boolean } = {},
): Code {
  const imports: Code['imports'][number][] = [];
  const outer =
    open && typeof value === 'object' && value !== null
      ? new Tall(value as { [key: string]: LiteralValue })
      : value;
  const text = print(outer, { column: indent, imports });
  return { ...raw(text), imports };
}

interface Printing {
  /** The column where the line's text starts. */
  readonly column: number;
  readonly imports: Code['imports'][number][];
}

function print(value: LiteralValue, at: Printing): string {
  if (typeof value === 'string') return str(value);
  if (typeof value !== 'object' || value === null) return String(value);
  if (value instanceof Tall) return tall('{', printMembers(value.members, at), '}');
  if (isCode(value)) {
    for (const entry of value.imports) at.imports.push(entry);
    return value.text;
  }
  return Array.isArray(value)
    ? printList(value, at)
    : printObject(value as { readonly [key: string]: LiteralValue }, at);
}

function printList(items: readonly LiteralValue[], at: Printing): string {
  if (items.length === 0) return '[]';
  const inner = { ...at, column: at.column + 2 };
  const parts = items.map((item) => print(item, inner));
  return fit(parts, { open: '[', close: ']', space: '' }, at);
}

function printObject(value: { readonly [key: string]: LiteralValue }, at: Printing): string {
  const parts = printMembers(value, at);
  return parts.length === 0 ? '{}' : fit(parts, { open: '{', close: '}', space: ' ' }, at);
}

function printMembers(value: { readonly [key: string]: LiteralValue }, at: Printing): string[] {
  const members = Object.keys(value).filter((key) => value[key] !== undefined);
  const inner = { ...at, column: at.column + 2 };
  return members.map((key) => printMember(key, value[key], inner));
}

/** `model: model` is printed as `model`. */
function printMember(key: string, value: LiteralValue, at: Printing): string {
  const name = propertyName(key);
  const text = print(value, at);
  return isCode(value) && text === key ? key : `${name}: ${text}`;
}

function fit(
  parts: readonly string[],
  { open, close, space }: { open: string; close: string; space: string },
  at: Printing,
): string {
  const line = `${open}${space}${parts.join(', ')}${space}${close}`;
  const room = WIDTH - at.column - MARGIN;
  return line.length <= room && !line.includes('\n') ? line : tall(open, parts, close);
}

function tall(open: string, parts: readonly string[], close: string): string {
  return `${open}\n${parts.map((part) => `  ${part.includes('\n') ? part.replaceAll('\n', '\n  ') : part},`).join('\n')}\n${close}`;
}

function isCode(value: LiteralValue): value is Code {
  return (
    typeof value === 'object' &&
    value !== null &&
    Array.isArray((value as Partial<Code>).imports) &&
    'text' in value
  );
}

/**
 * The name of a file as part of an identifier. `otherwise` comes before one that begins with a
 * digit.
 *
 * @example camelCase('rate-limit', 'plugin') // 'rateLimit'
 */
export function camelCase(file: string, otherwise: string): string {
  const words = file.split(/[^A-Za-z0-9]+/).filter(Boolean);
  const camel = words
    .map((word, at) => (at === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1)))
    .join('');
  return /^[A-Za-z]/.test(camel) ? camel : `${otherwise}${camel}`;
}

/**
 * Whether two values print the same. The site runs the templates in a browser, which has no
 * `node:util`.
 *
 * @example isSame({ by: ['id'] }, { by: ['id'] }) // true
 */
export const isSame = (one: unknown, other: unknown): boolean =>
  isObject(one) && isObject(other)
    ? Object.keys(one).length === Object.keys(other).length &&
      Object.keys(one).every((key) => key in other && isSame(one[key], other[key]))
    : one === other;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;
