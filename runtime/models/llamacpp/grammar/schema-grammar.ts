import { numberRange, type Bounds } from './number-range.ts';
import { patternGrammar } from './pattern.ts';
import { jsonLiteral, NOT_IN_TEXT, oneOf, Rules, UnsupportedSchema } from './rules.ts';
import {
  canEnd,
  resolve,
  FORMS,
  impliedTypes,
  type Schema,
  strangeWord,
  type TypeName,
  TYPES,
  WORDS,
} from './references.ts';

const ANY_CHARACTER = `([^${NOT_IN_TEXT}] | "\\\\" ["\\\\/bfnrt])`;
const COMMA = '"," " "?';
const COLON = '":" " "?';
const MAX_REPEATS = 1000;
const DAY = '("0" [1-9] | "1" [0-9] | "2" [0-8])';
/** The 29th of February is left out, because a grammar does not know which years have it. */
const DATE =
  `[0-9]{4} "-" (("0" [1-9] | "1" [0-2]) "-" ${DAY} | ` +
  '("0" [13-9] | "1" [0-2]) "-" ("29" | "30") | ("0" [13578] | "1" [02]) "-31")';
const HOUR = '([01] [0-9] | "2" [0-3])';
const SIXTY = '[0-5] [0-9]';
const TIME = `${HOUR} ":" ${SIXTY} ":" ${SIXTY} ("." [0-9]{1,3})? ("Z" | [+-] ${HOUR} ":" ${SIXTY})`;
const FORMATS: Readonly<Record<string, string>> = {
  date: DATE,
  'date-time': `${DATE} "T" ${TIME}`,
  uuid: '[0-9a-f]{8} "-" [0-9a-f]{4} "-" [0-9a-f]{4} "-" [0-9a-f]{4} "-" [0-9a-f]{12}',
};

/**
 * Writes the rules of JSON Schemas into one grammar. What the grammar allows is always valid, but it
 * may allow less: no properties besides the named ones, no 29th of February.
 */
export class SchemaGrammar {
  readonly #rules: Rules;
  readonly #root: Schema;
  readonly #path: string;
  readonly #references = new Map<string, string>();

  /** @param path where the schema stands in the request, for errors */
  constructor(rules: Rules, root: unknown, path: string) {
    this.#rules = rules;
    this.#root = asSchema(root, path);
    this.#path = path;
  }

  /** @returns the rule of the whole schema. @throws UnsupportedSchema */
  compile(): string {
    if (!canEnd(this.#root, this.#root))
      throw new UnsupportedSchema(this.#path, 'requires a value that contains itself without end');
    return this.#schema(this.#root, this.#path, []);
  }

  /** @param open references that lead here without a character in between */
  #schema(value: unknown, path: string, open: readonly string[]): string {
    if (value === true) return this.#any();
    const schema = asSchema(value, path);
    const form = Object.keys(FORMS).find((word) => word in schema);
    if (form === undefined) return this.#typed(schema, path);
    const strange = strangeWord(schema, [form, ...(FORMS[form] as readonly string[])]);
    if (strange !== undefined)
      throw new UnsupportedSchema(`${path}.${strange}`, `cannot stand beside ${form}`);
    if (form === '$ref') return this.#reference(String(schema['$ref']), `${path}.$ref`, open);
    if (form === 'anyOf') return this.#anyOf(schema['anyOf'], `${path}.anyOf`, open);
    return this.#constants(schema, form, `${path}.${form}`);
  }

  #anyOf(list: unknown, path: string, open: readonly string[]): string {
    if (!Array.isArray(list) || list.length === 0)
      throw new UnsupportedSchema(path, 'must be a list with at least one schema');
    return oneOf(list.map((each, index) => this.#schema(each, `${path}[${index}]`, open)));
  }

  #constants(schema: Schema, form: string, path: string): string {
    const values = form === 'const' ? [schema['const']] : schema['enum'];
    if (!Array.isArray(values)) throw new UnsupportedSchema(path, 'must be a list');
    const types = 'type' in schema ? typesOf(schema['type'], path) : TYPES;
    const fitting = values.filter((value) => types.some((type) => hasType(value, type)));
    if (fitting.length === 0) throw new UnsupportedSchema(path, 'allows no value');
    return this.#rules.add(oneOf(fitting.map(jsonLiteral)));
  }

  #reference(pointer: string, path: string, open: readonly string[]): string {
    if (open.includes(pointer)) throw new UnsupportedSchema(path, 'refers to itself');
    const known = this.#references.get(pointer);
    if (known !== undefined) return known;
    const target = resolve(this.#root, pointer);
    if (target === undefined) throw new UnsupportedSchema(path, `${pointer} is not in the schema`);
    const name = this.#rules.reserve();
    // A rule that is still being made may be used by itself only after a character.
    const body = this.#withReference(pointer, name, target, { path, open });
    this.#rules.define(name, body);
    return name;
  }

  #withReference(
    pointer: string,
    name: string,
    target: unknown,
    { path, open }: { readonly path: string; readonly open: readonly string[] },
  ): string {
    this.#references.set(pointer, name);
    const leads = leadsTo(target, pointer, this.#root);
    if (leads) throw new UnsupportedSchema(path, 'refers to itself');
    return this.#schema(target, `${this.#path}${pointer.slice(1).replaceAll('/', '.')}`, [
      ...open,
      pointer,
    ]);
  }

  #typed(schema: Schema, path: string): string {
    const implied = impliedTypes(schema);
    const types = 'type' in schema ? typesOf(schema['type'], `${path}.type`) : implied;
    const strange = strangeWord(schema, ['type', ...types.flatMap((type) => WORDS[type])]);
    if (strange !== undefined)
      throw new UnsupportedSchema(`${path}.${strange}`, 'is not supported by the llamacpp engine');
    if (types.length === 0) return this.#any();
    return oneOf(types.map((type) => this.#ofType(type, schema, path)));
  }

  #ofType(type: TypeName, schema: Schema, path: string): string {
    if (type === 'object') return this.#object(schema, path);
    if (type === 'array') return this.#array(schema, path);
    if (type === 'string') return this.#string(schema, path);
    if (type === 'boolean') return '("true" | "false")';
    if (type === 'null') return '"null"';
    return this.#number(schema, type, path);
  }

  #number(schema: Schema, type: TypeName, path: string): string {
    const isInteger = type === 'integer';
    const set = WORDS.number.filter((word) => word in schema);
    const wrong = set.find((word) => typeof schema[word] !== 'number');
    if (wrong !== undefined) throw new UnsupportedSchema(`${path}.${wrong}`, 'must be a number');
    if (set.length === 0) return this.#rules.add(isInteger ? INTEGER : NUMBER);
    const range = numberRange(schema as Bounds, isInteger);
    if (range === null) throw new UnsupportedSchema(path, 'has bounds that allow no number');
    return this.#rules.add(range);
  }

  #string(schema: Schema, path: string): string {
    const set = WORDS.string.filter((word) => word in schema);
    const [first, second] = set.filter((word) => word === 'pattern' || word === 'format');
    const length = set.find((word) => word.endsWith('Length'));
    const beside = second ?? (first === undefined ? undefined : length);
    if (beside !== undefined)
      throw new UnsupportedSchema(`${path}.${beside}`, `cannot stand beside ${first}`);
    const text = this.#text(schema, first, path);
    return this.#rules.add(`"\\"" ${text} "\\""`);
  }

  #text(schema: Schema, word: string | undefined, path: string): string {
    if (word === 'pattern')
      return patternGrammar(String(schema['pattern']), `${path}.pattern`, this.#rules);
    if (word === undefined)
      return (
        this.#rules.add(ANY_CHARACTER) + this.#counts(schema, path, ['minLength', 'maxLength'])
      );
    const known = FORMATS[String(schema['format'])];
    if (known === undefined)
      throw new UnsupportedSchema(
        `${path}.format`,
        `${String(schema['format']).slice(0, 50)} is not supported by the llamacpp engine`,
      );
    return this.#rules.add(known);
  }

  /** A repetition: `{2,5}`. */
  #counts(schema: Schema, path: string, [from, to]: readonly [string, string]): string {
    const [least, most] = [schema[from] ?? 0, schema[to] ?? null] as [number, number | null];
    const wrong = [
      { word: from, count: least },
      { word: to, count: most ?? 0 },
    ].find(({ count }) => !Number.isInteger(count) || count < 0 || count > MAX_REPEATS);
    if (wrong)
      throw new UnsupportedSchema(`${path}.${wrong.word}`, `must be from 0 to ${MAX_REPEATS}`);
    if (most !== null && most < least)
      throw new UnsupportedSchema(`${path}.${to}`, `is less than ${from}`);
    return `{${least},${most ?? ''}}`;
  }

  #array(schema: Schema, path: string): string {
    const counts = this.#counts(schema, path, ['minItems', 'maxItems']);
    const [least = 0, most] = counts.slice(1, -1).split(',').map(Number);
    const unlimited = schema['maxItems'] === undefined;
    if (!unlimited && most === 0) return '"[]"';
    const item = this.#rules.add(this.#schema(schema['items'] ?? true, `${path}.items`, []));
    const further = this.#rules.add(`${COMMA} ${item}`);
    const last = unlimited ? '' : Number(most) - 1;
    const rest = last === 0 ? '' : `${further}{${Math.max(0, least - 1)},${last}}`;
    return this.#rules.add(`"[" ${least === 0 ? `(${item} ${rest})?` : `${item} ${rest}`} "]"`);
  }

  #object(schema: Schema, path: string): string {
    const named = this.#properties(schema, path);
    const required = new Set(asNames(schema['required'], `${path}.required`));
    const further = schema['additionalProperties'] ?? true;
    for (const name of [...required].filter((each) => !named.has(each))) {
      if (further === false)
        throw new UnsupportedSchema(`${path}.required`, `names ${name}, which is not allowed`);
      named.set(name, this.#schema(further, `${path}.additionalProperties`, []));
    }
    if (named.size === 0 && further !== false) return this.#map(further, path);
    const pairs = [...named].map(([name, value]) => ({
      pair: `${jsonLiteral(name)} ${COLON} ${value}`,
      required: required.has(name),
    }));
    return this.#rules.add(`"{" ${this.#pairs(pairs)} "}"`);
  }

  #properties(schema: Schema, path: string): Map<string, string> {
    const properties = schema['properties'] ?? {};
    const entries = Object.entries(asSchema(properties, `${path}.properties`));
    return new Map(
      entries.map(([name, each]) => [
        name,
        this.#rules.add(this.#schema(each, `${path}.properties.${name}`, [])),
      ]),
    );
  }

  /** The pairs in their order. Those that are not required may be absent. */
  #pairs(pairs: readonly { readonly pair: string; readonly required: boolean }[]): string {
    let begun = '""';
    let first = '""';
    for (const { pair, required } of pairs.toReversed()) {
      const next = this.#rules.add(`${pair} ${begun}`);
      first = required ? next : this.#rules.add(`${next} | ${first}`);
      begun = this.#rules.add(required ? `${COMMA} ${next}` : `${COMMA} ${next} | ${begun}`);
    }
    return first;
  }

  #map(values: unknown, path: string): string {
    const text = this.#string({}, path);
    const value = this.#rules.add(this.#schema(values, `${path}.additionalProperties`, []));
    const pair = this.#rules.add(`${text} ${COLON} ${value}`);
    const further = this.#rules.add(`${COMMA} ${pair}`);
    return this.#rules.add(`"{" (${pair} ${further}*)? "}"`);
  }

  /** Any JSON value. */
  #any(): string {
    const known = this.#references.get('any');
    if (known !== undefined) return known;
    const name = this.#rules.reserve();
    this.#references.set('any', name);
    const scalars = (['string', 'number', 'boolean', 'null'] as const).map((type) =>
      this.#ofType(type, {}, ''),
    );
    this.#rules.define(name, oneOf([...scalars, this.#array({}, ''), this.#map(true, '')]));
    return name;
  }
}

const INTEGER = '("0" | "-"? [1-9] [0-9]{0,14})';
const NUMBER = '"-"? ("0" | [1-9] [0-9]{0,14}) ("." [0-9]{1,6})?';

function asSchema(value: unknown, path: string): Schema {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Schema;
  throw new UnsupportedSchema(path, value === false ? 'allows no value' : 'must be an object');
}

function asNames(value: unknown, path: string): readonly string[] {
  if (value === undefined) return [];
  if (Array.isArray(value) && value.every((name) => typeof name === 'string'))
    return value as string[];
  throw new UnsupportedSchema(path, 'must be a list of names');
}

function typesOf(value: unknown, path: string): readonly TypeName[] {
  const list = Array.isArray(value) ? [...new Set(value)] : [value];
  const strange = list.find((type) => !TYPES.includes(type as TypeName));
  if (strange === undefined && list.length > 0) return list as TypeName[];
  throw new UnsupportedSchema(path, `must be one of ${TYPES.join(', ')}, or a list of them`);
}

function hasType(value: unknown, type: TypeName): boolean {
  if (type === 'integer') return Number.isInteger(value);
  if (value === null) return type === 'null';
  if (Array.isArray(value)) return type === 'array';
  return typeof value === type;
}

/** Whether a schema refers to `pointer` without a character in between. */
function leadsTo(
  schema: unknown,
  pointer: string,
  root: Schema,
  seen = new Set<unknown>(),
): boolean {
  if (typeof schema !== 'object' || schema === null || seen.has(schema)) return false;
  seen.add(schema);
  const { $ref: reference, anyOf } = schema as Schema;
  if (reference === pointer) return true;
  const next = [
    ...(typeof reference === 'string' ? [resolve(root, reference)] : []),
    ...(Array.isArray(anyOf) ? anyOf : []),
  ];
  return next.some((each) => leadsTo(each, pointer, root, seen));
}
