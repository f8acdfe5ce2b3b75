import type { Level } from '../change.ts';

export type JsonSchema = Readonly<Record<string, unknown>>;

export interface RestChange {
  readonly level: Level;
  readonly code: string;
  readonly coordinate: string;
  readonly message: string;
}

type Schemas = Readonly<Record<string, JsonSchema>>;

interface Given {
  readonly before: Schemas;
  readonly after: Schemas;
  readonly today: string;
  readonly renames: ReadonlyMap<string, string>;
  readonly report: (change: RestChange) => void;
}

interface Where {
  /** Whether callers send the schema or receive it. */
  readonly direction: 'in' | 'out';
  readonly coordinate: string;
}

/**
 * Compares two JSON Schemas as callers meet them. A component is compared once for each direction,
 * by its name.
 */
export function createSchemaComparison(
  given: Given,
): (before: JsonSchema, after: JsonSchema, where: Where) => void {
  const done = new Set<string>();
  const told = new Set<string>();
  const report = (level: Level, code: string, coordinate: string, message: string) => {
    // A component that callers both send and receive may lose the same member in both directions.
    if (told.has(`${code} ${coordinate}`)) return;
    told.add(`${code} ${coordinate}`);
    given.report({ level, code, coordinate, message });
  };
  const compare = (before: JsonSchema, after: JsonSchema, where: Where): void => {
    const old = alternatives(before);
    const now = alternatives(after);
    compareAlternatives({ old, now, where, report });
    for (const [key, schema] of old) {
      const other = now.get(key);
      if (!other) continue;
      const name = referred(schema);
      if (name === null) compareShapes(schema, other, where);
      else compareComponent(name, where.direction);
    }
  };
  const compareComponent = (name: string, direction: Where['direction']) => {
    const [before, after] = [given.before[name], given.after[name]];
    if (!before || !after || done.has(`${direction} ${name}`)) return;
    done.add(`${direction} ${name}`);
    compare(before, after, { direction, coordinate: name });
  };
  const compareShapes = (before: JsonSchema, after: JsonSchema, where: Where) => {
    compareValues({ before, after, renames: given.renames }, where, report);
    compareBounds(before, after, where, report);
    if (isSchema(before['items']) && isSchema(after['items']))
      compare(before['items'], after['items'], { ...where, coordinate: `${where.coordinate}[]` });
    compareMembers({ before, after, where, report, compare, ...pick(given) });
  };
  return compare;
}

/**
 * The present name of a member, by the rename of its type or of one that the type's name is made of;
 * any type where `owner` is empty.
 */
export function newName(
  renames: ReadonlyMap<string, string>,
  owner: string,
  name: string,
  has: (name: string) => boolean,
): string | undefined {
  for (const [from, to] of renames) {
    const [type = '', member, ...rest] = from.split(/[.(]/);
    const now = to.slice(to.indexOf('.') + 1);
    if (member === name && rest.length === 0 && (owner === '' || owner.includes(type)) && has(now))
      return now;
  }
  return undefined;
}

/** Whether the day of an announced removal has come. */
export const isOver = (day: unknown, today: string): boolean =>
  typeof day === 'string' && day <= today;

const pick = ({ today, renames }: Given) => ({ today, renames });

type Report = (level: Level, code: string, coordinate: string, message: string) => void;

const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const referred = ({ $ref }: JsonSchema): string | null =>
  typeof $ref === 'string' ? $ref.slice($ref.lastIndexOf('/') + 1) : null;

/** `{ type: ['string', 'null'] }` and `anyOf` as one schema for each alternative, by what it is. */
function alternatives(schema: JsonSchema): Map<string, JsonSchema> {
  const list = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(list))
    return new Map(list.flatMap((each: JsonSchema) => [...alternatives(each)]));
  const name = referred(schema);
  if (name !== null) return new Map([[`#${name}`, schema]]);
  const types = [schema['type'] ?? (schema['enum'] ? 'string' : 'any')].flat() as string[];
  return new Map(
    types.map((type) => [
      type === 'null' || !schema['format'] ? type : `${type} ${String(schema['format'])}`,
      schema,
    ]),
  );
}

interface Alternatives {
  readonly old: ReadonlyMap<string, JsonSchema>;
  readonly now: ReadonlyMap<string, JsonSchema>;
  readonly where: Where;
  readonly report: Report;
}

function compareAlternatives({ old, now, where, report }: Alternatives): void {
  const { direction, coordinate } = where;
  const added = [...now.keys()].filter((key) => !old.has(key) && !old.has('any'));
  const gone = [...old.keys()].filter((key) => !now.has(key) && !now.has('any'));
  if (direction === 'in' && gone.some((key) => !(key === 'integer' && now.has('number'))))
    report(
      'breaking',
      'INPUT_TYPE_CHANGED',
      coordinate,
      `${coordinate} takes ${typed(now)} instead of ${typed(old)}`,
    );
  if (direction === 'out' && (gone.some((key) => key.startsWith('#')) || added.length > 0)) {
    const isUnion = [...old.keys(), ...now.keys()].every((key) => /^(#|null$)/.test(key));
    const onlyMore = isUnion && gone.length === 0 && !added.includes('null') && old.size > 0;
    const isInteger = added.length === 1 && added[0] === 'integer' && old.has('number');
    if (!isInteger)
      report(
        onlyMore ? 'dangerous' : 'breaking',
        'ANSWER_TYPE_CHANGED',
        coordinate,
        `${coordinate} is ${typed(now)} instead of ${typed(old)}`,
      );
  }
}

const typed = (alternatives_: ReadonlyMap<string, JsonSchema>) =>
  [...alternatives_.keys()].map((key) => key.replace('#', '')).join(' or ');

function compareValues(
  { before, after, renames }: Pick<Members, 'before' | 'after' | 'renames'>,
  { direction, coordinate }: Where,
  report: Report,
): void {
  const isRenamed = (value: unknown, values: readonly unknown[]) =>
    newName(renames, '', String(value), (each) => values.includes(each)) !== undefined;
  const [old, now] = [before['enum'], after['enum']] as (readonly unknown[] | undefined)[];
  if (!old && now && direction === 'in')
    report(
      'breaking',
      'INPUT_TYPE_CHANGED',
      coordinate,
      `${coordinate} takes only ${now.join(', ')} now`,
    );
  if (!old || !now) return;
  for (const value of old.filter((each) => !now.includes(each) && !isRenamed(each, now)))
    report(
      'breaking',
      'VALUE_REMOVED',
      `${coordinate}.${String(value)}`,
      `${coordinate} has no value ${String(value)} now`,
    );
  for (const value of now.filter((each) => !old.includes(each)))
    report(
      direction === 'out' ? 'dangerous' : 'safe',
      direction === 'out' ? 'ANSWER_VALUE_ADDED' : 'VALUE_ADDED',
      `${coordinate}.${String(value)}`,
      `${coordinate} has the new value ${String(value)}`,
    );
}

/** Bounds of what callers send: a smaller most, or a larger least, refuses what was fine. */
const MOST = ['maximum', 'maxLength', 'maxItems', 'maxProperties', 'exclusiveMaximum'];
const LEAST = ['minimum', 'minLength', 'minItems', 'minProperties', 'exclusiveMinimum'];

function compareBounds(
  before: JsonSchema,
  after: JsonSchema,
  { direction, coordinate }: Where,
  report: Report,
): void {
  if (direction === 'out') return;
  const tightened = [
    ...MOST.filter((key) => Number(after[key]) < Number(before[key] ?? Infinity)),
    ...LEAST.filter((key) => Number(after[key]) > Number(before[key] ?? -Infinity)),
    ...(after['pattern'] !== undefined && after['pattern'] !== before['pattern']
      ? ['pattern']
      : []),
  ];
  for (const key of tightened)
    report(
      'breaking',
      'INPUT_TIGHTENED',
      `${coordinate} ${key}`,
      `${coordinate} has ${key} ${String(after[key])} now`,
    );
}

interface Members {
  readonly before: JsonSchema;
  readonly after: JsonSchema;
  readonly where: Where;
  readonly report: Report;
  readonly compare: (before: JsonSchema, after: JsonSchema, where: Where) => void;
  readonly today: string;
  readonly renames: ReadonlyMap<string, string>;
}

function compareMembers({ before, after, where, report, compare, today, renames }: Members): void {
  const { direction, coordinate } = where;
  const [old, must] = membersOf(before);
  const [now, needs] = membersOf(after);
  const taken = new Set<string>();
  for (const [name, schema] of Object.entries(old)) {
    const nameNow = now[name] ? name : newName(renames, coordinate, name, (each) => each in now);
    const next = nameNow === undefined ? undefined : now[nameNow];
    const at = `${coordinate}.${name}`;
    if (nameNow === undefined || !next) {
      const level = isOver(schema['x-sunset'], today) ? 'dangerous' : 'breaking';
      report(level, 'MEMBER_REMOVED', at, `${at} is gone`);
      continue;
    }
    if (nameNow !== name) {
      taken.add(nameNow);
      report('breaking', 'MEMBER_RENAMED', at, `${at} is ${nameNow} now`);
    }
    compare(schema, next, { direction, coordinate: at });
    const [was, is] = [must.has(name), needs.has(nameNow)];
    if (was === is) continue;
    if (is && direction === 'in') report('breaking', 'INPUT_REQUIRED', at, `${at} is required now`);
    if (was && direction === 'out')
      report('breaking', 'MEMBER_OPTIONAL', at, `${at} may be missing now`);
  }
  const added = Object.keys(now).filter((name) => !old[name] && !taken.has(name));
  for (const name of added)
    reportAdded(`${coordinate}.${name}`, direction === 'in' && needs.has(name), report);
}

/** The members of an object, and the names of those that are required. */
const membersOf = ({ properties, required }: JsonSchema): [Schemas, Set<string>] => [
  (properties ?? {}) as Schemas,
  new Set((required ?? []) as string[]),
];

const reportAdded = (at: string, required: boolean, report: Report) =>
  required
    ? report('breaking', 'INPUT_REQUIRED', at, `${at} is new and required`)
    : report('safe', 'MEMBER_ADDED', at, `${at} is new`);
