import { didYouMean, nearest } from '../did-you-mean.ts';
import type { Diagnostic } from '../diagnostic.ts';
import { manifestSchema, wholeShape } from '../manifest-schema.ts';
import { isData, type Data, type Shape } from '../manifest/shape.ts';
import { sections } from '../sections.ts';
import type { ManifestPath } from './yaml.ts';

/** A wrong value with its path; its position in the text is looked up later. */
export interface ShapeProblem extends Pick<Diagnostic, 'code' | 'summary'> {
  readonly fix: string;
  readonly path: ManifestPath;
  readonly part: 'key' | 'value';
}

type Report = (problem: ShapeProblem) => void;

/**
 * A value with every default of the JSON Schema filled in. Wrong values are reported and replaced
 * by their defaults. Compiling the schema with ajv takes 50 ms, as much as the rest of `check`, so
 * this module walks the schema itself. A test checks that ajv gives the same result for every
 * input.
 *
 * @example
 * settleManifest({ name: 'x' }, report).server.port // 8080
 */
export function settleManifest(value: Data, report: Report): Data {
  return settle(value, manifestSchema, [], report) as Data;
}

function settle(value: unknown, given: Shape, path: ManifestPath, report: Report): unknown {
  const shape = wholeShape(given);
  if (value === undefined)
    return shape.default === undefined
      ? undefined
      : settle(structuredClone(shape.default), { ...shape, default: undefined }, path, report);
  const types = [shape.type ?? []].flat();
  // A bare `jwt:` is null in YAML and means the section with its defaults.
  if (value === null && types.length === 1 && types[0] === 'object')
    return settle({}, shape, path, report);
  if (!fits(value, shape)) {
    report(wrongValue(value, shape, path));
    return settle(undefined, shape, path, report);
  }
  if (Array.isArray(value))
    return value
      .map((item: unknown, index) => settle(item, shape.items ?? {}, [...path, index], report))
      .filter((item) => item !== undefined);
  if (!isData(value) || !(shape.properties || shape.additionalProperties)) return value;
  return settleObject(value, shape, path, report) ?? settle(undefined, shape, path, report);
}

/** Undefined if a required value without a default is missing. */
function settleObject(
  value: Data,
  shape: Shape,
  path: ManifestPath,
  report: Report,
): Data | undefined {
  const result = new Map<string, unknown>();
  for (const [key, inner] of Object.entries(shape.properties ?? {})) {
    const own = Object.hasOwn(value, key) ? value[key] : undefined;
    if (own === undefined && shape.required?.includes(key)) report(missing([...path, key]));
    const settled = settle(own, inner, [...path, key], report);
    if (settled !== undefined) result.set(key, settled);
  }
  for (const [key, own] of Object.entries(value)) {
    if (shape.properties && Object.hasOwn(shape.properties, key)) continue;
    if (typeof shape.additionalProperties !== 'object') report(unknownKey([...path, key], shape));
    else if (shape.propertyNames && !fits(key, shape.propertyNames))
      report(wrongName([...path, key], shape.propertyNames));
    else result.set(key, settle(own, shape.additionalProperties, [...path, key], report));
  }
  const whole = (shape.required ?? []).every((key) => result.has(key));
  return whole ? Object.fromEntries([...result].filter(([, own]) => own !== undefined)) : undefined;
}

/** Whether a value itself is right; its members are checked one by one afterwards. */
function fits(value: unknown, given: Shape): boolean {
  const shape = wholeShape(given);
  if (shape.anyOf && !shape.anyOf.some((other) => fitsWithItems(value, other))) return false;
  if (shape.enum && !shape.enum.includes(value)) return false;
  if (shape.const !== undefined && shape.const !== value) return false;
  if (shape.type !== undefined && ![shape.type].flat().includes(typeOf(value, shape.type)))
    return false;
  if (typeof value === 'string') return isTextOf(value, shape);
  if (typeof value === 'number') return isNumberOf(value, shape);
  return !Array.isArray(value) || isListOf(value, shape);
}

const isTextOf = (value: string, { minLength = 0, pattern }: Shape): boolean =>
  value.length >= minLength && (pattern === undefined || new RegExp(pattern, 'u').test(value));

const isNumberOf = (
  value: number,
  { minimum = -Infinity, maximum = Infinity, exclusiveMinimum = -Infinity }: Shape,
): boolean => value >= minimum && value <= maximum && value > exclusiveMinimum;

const isListOf = (value: readonly unknown[], { minItems = 0, uniqueItems }: Shape): boolean =>
  value.length >= minItems && !(uniqueItems && new Set(value).size < value.length);

/** Like `fits`, for one of several options: its items are not checked afterwards. */
function fitsWithItems(value: unknown, option: Shape): boolean {
  const { items } = wholeShape(option);
  if (!fits(value, option)) return false;
  return !Array.isArray(value) || !items || value.every((item) => fits(item, items));
}

function typeOf(value: unknown, wanted: Shape['type']): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) && [wanted].flat().includes('integer') ? 'integer' : typeof value;
}

/** Keys that users look for in the manifest although they are settings of the environment. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ['database.url', 'DATABASE_URL'],
  ['server.url', 'APP_URL'],
  ['smtp', 'SMTP_URL'],
  ['mail', 'SMTP_URL'],
  ...sections.flatMap(({ name, settings = {} }) =>
    Object.entries(settings).map(([path, setting]) => [`${name}.${path}`, setting] as const),
  ),
]);

function unknownKey(path: ManifestPath, shape: Shape): ShapeProblem {
  const known = Object.keys(shape.properties ?? {});
  const setting = ELSEWHERE.get(path.join('.'));
  const fix = setting
    ? `this is the setting ${setting}: write it into .env`
    : (didYouMean(String(path.at(-1)), known) ?? `known here: ${known.join(', ')}`);
  return {
    code: 'MANIFEST_KEY_UNKNOWN',
    summary: `There is no setting ${path.join('.')}`,
    fix,
    path,
    part: 'key',
  };
}

function missing(path: ManifestPath): ShapeProblem {
  return {
    code: 'MANIFEST_KEY_MISSING',
    summary: `${path.join('.')} is missing`,
    fix: path.length === 1 ? `${path[0]}: shop` : `add ${path.at(-1)}`,
    path,
    part: 'key',
  };
}

function wrongName(path: ManifestPath, names: Shape): ShapeProblem {
  return {
    code: 'MANIFEST_SHAPE',
    summary: `${path.join('.')} is no name that can stand here`,
    fix: `it has to match ${names.pattern}`,
    path,
    part: 'key',
  };
}

function wrongValue(value: unknown, shape: Shape, path: ManifestPath): ShapeProblem {
  const near =
    shape.enum && typeof value === 'string' ? nearest(value, shape.enum.map(String)) : undefined;
  const fix = near
    ? `Did you mean "${near}"?`
    : shape.default === undefined
      ? 'see manifest.schema.json, or let the editor complete it'
      : `the default is ${JSON.stringify(shape.default)}`;
  return {
    code: 'MANIFEST_SHAPE',
    summary: `${path.join('.')} has to be ${expected(shape)}`,
    fix,
    path,
    part: 'value',
  };
}

function expected(shape: Shape): string {
  if (shape.enum) return shape.enum.join(', ').replace(/, ([^,]*)$/, ' or $1');
  if (shape.const !== undefined) return String(shape.const);
  if (shape.minimum !== undefined && shape.maximum !== undefined)
    return `${article(shape.type)} from ${shape.minimum} to ${shape.maximum}`;
  if (shape.minimum !== undefined) return `${article(shape.type)} of at least ${shape.minimum}`;
  if (shape.exclusiveMinimum !== undefined)
    return `${article(shape.type)} above ${shape.exclusiveMinimum}`;
  if ((shape.type === 'string' && shape.pattern) || shape.anyOf)
    return `like this: ${shape.description ?? shape.pattern}`;
  return shape.uniqueItems ? 'a list without repetitions' : article(shape.type);
}

const WORDS: Readonly<Record<string, string>> = {
  string: 'a text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a section with settings of its own',
  null: 'null',
};

function article(type: Shape['type']): string {
  return [type ?? 'string']
    .flat()
    .map((word) => WORDS[word] ?? word)
    .join(' or ');
}
