import { isEnumType, isListType, isNonNullType, isObjectType, isScalarType } from 'graphql';
import type { GraphQLEnumType, GraphQLObjectType, GraphQLScalarType, GraphQLType } from 'graphql';
import { isJsonText, storedAs } from '../build/columns.ts';
import { exampleOf } from '../build/comparisons.ts';
import { coordinate, scalarType, type Facts, type FieldFact } from '../build/facts.ts';
import { didYouMean } from '../did-you-mean.ts';
import type { Finding } from '../parse/places.ts';
import type { ColumnType, IdKind } from '../model.ts';
import type { Change } from '../parse/changes.ts';
import { finding, type Rule } from './finding.ts';

/** DEFAULT_INVALID: a default is a value of the field's type. */
export const defaults: Rule = function* ({ facts, project }) {
  for (const entity of facts.entities.values()) {
    for (const field of entity.fields.values()) {
      const written = field.directives.default;
      const stored = field.name === 'id' ? 'id' : storedAs(field, facts);
      if (!written || !stored || written.expr === 'DATABASE') continue;
      const advice = problem(field, stored, written, { facts, ids: project.ids });
      if (advice) yield report(field, stored, advice);
    }
  }
};

/** What makes the values of these types, which are seldom the same in every row. */
const MAKERS: Readonly<Partial<Record<ColumnType, string>>> = {
  timestamp: 'expr: NOW',
  date: 'expr: NOW',
  time: 'expr: NOW',
  uuid: 'expr: UUID',
};

interface Problem {
  readonly why: string;
  readonly fix?: string | undefined;
}

function report(field: FieldFact, stored: ColumnType, { why, fix }: Problem): Finding {
  const node = field.directives.default?.node;
  const within = field.field.astNode ?? node;
  const example = possibleDefault(field, stored);
  const change: Change[] =
    node && within
      ? [
          example === undefined
            ? { kind: 'remove', node, within }
            : { kind: 'replace', node, text: `@default(${example})`, within },
        ]
      : [];
  return finding('DEFAULT_INVALID', node, {
    summary: `The default of ${coordinate(field)} does not fit`,
    why,
    fix,
    changes: change,
  });
}

/** A possible default of the field; undefined if none can be invented. */
function possibleDefault({ named, type, name }: FieldFact, stored: ColumnType): string | undefined {
  if (name === 'id' || (type.kind === 'object' && !type.list)) return undefined;
  if (type.list) return 'value: []';
  const values = isEnumType(named) ? { values: named.getValues().map((each) => each.name) } : {};
  return MAKERS[stored] ?? `value: ${exampleOf({ type: stored, ...values })}`;
}

function problem(
  field: FieldFact,
  stored: ColumnType,
  written: NonNullable<FieldFact['directives']['default']>,
  { facts, ids }: { readonly facts: Facts; readonly ids: IdKind },
): Problem | undefined {
  if ((written.value === undefined) === (written.expr === undefined))
    return {
      why: 'it needs either a value or an expression',
    };
  if (written.expr !== undefined) return expressionProblem(field, stored, written.expr, ids);
  return valueProblem(field, stored, written.value, facts);
}

const MADE_BY: Readonly<Record<string, readonly ColumnType[]>> = {
  NOW: ['timestamp', 'date', 'time'],
  UUID: ['uuid', 'text'],
  AUTOINCREMENT: [],
};

function expressionProblem(
  field: FieldFact,
  stored: ColumnType,
  expr: string,
  ids: IdKind,
): Problem | undefined {
  if (stored === 'id' && field.name === 'id') {
    const own = ids === 'uuid' ? 'UUID' : 'AUTOINCREMENT';
    return expr === own
      ? undefined
      : {
          why: `keys are ${ids === 'uuid' ? 'UUIDs' : 'integers'} in this project`,
          fix: `in manifest.yaml: database: { ids: ${ids === 'uuid' ? 'integer' : 'uuid'} }`,
        };
  }
  if (MADE_BY[expr]?.includes(stored) && !field.type.list) return undefined;
  return {
    why:
      expr === 'AUTOINCREMENT'
        ? 'only the key counts by itself'
        : `${expr} makes no ${field.type.text.replace('!', '')}`,
  };
}

function valueProblem(
  field: FieldFact,
  stored: ColumnType,
  value: unknown,
  facts: Facts,
): Problem | undefined {
  if (stored === 'id' && value !== null) return { why: 'a key cannot be the same in every row' };
  return isJsonText(field, stored, value)
    ? jsonProblem(value)
    : literalProblem(field.field.type, value, facts);
}

/** A text in which a value of JSON is written, for keys that are no names in GraphQL. */
function jsonProblem(text: string): Problem | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch {
    return { why: `${JSON.stringify(text)} begins like JSON and is none` };
  }
}

/** Why a literal of the SDL is no value of a type; undefined if it is one. */
function literalProblem(type: GraphQLType, value: unknown, facts: Facts): Problem | undefined {
  if (isNonNullType(type))
    return value === null
      ? { why: 'null is no value of a required field' }
      : literalProblem(type.ofType, value, facts);
  if (value === null) return undefined;
  if (isListType(type))
    return Array.isArray(value)
      ? first(value, (item) => literalProblem(type.ofType, item, facts))
      : noValue(type, value);
  if (isEnumType(type)) return enumProblem(type, value);
  if (isObjectType(type)) return objectProblem(type, value, facts);
  return isScalarType(type) ? scalarProblem(type, value, facts) : undefined;
}

const noValue = (type: GraphQLType, value: unknown): Problem => ({
  why: `${JSON.stringify(value)} is no ${String(type)}`,
});

function first<T>(items: readonly T[], of: (item: T) => Problem | undefined): Problem | undefined {
  for (const item of items) {
    const problem = of(item);
    if (problem) return problem;
  }
  return undefined;
}

function enumProblem(type: GraphQLEnumType, value: unknown): Problem | undefined {
  const words = type.getValues().map(({ name }) => name);
  return words.includes(String(value))
    ? undefined
    : {
        why: `${type.name} has no value ${String(value)}`,
        fix: didYouMean(String(value), words) ?? `one of ${words.join(', ')}`,
      };
}

function objectProblem(type: GraphQLObjectType, value: unknown, facts: Facts): Problem | undefined {
  if (typeof value !== 'object' || Array.isArray(value)) return noValue(type, value);
  const given = new Map(Object.entries(value as object));
  const fields = type.getFields();
  const unknown = [...given.keys()].find((name) => !(name in fields));
  if (unknown !== undefined)
    return {
      why: `${type.name} has no field ${unknown}`,
      fix: didYouMean(unknown, Object.keys(fields)),
    };
  return first(Object.values(fields), (field) =>
    literalProblem(field.type, given.get(field.name) ?? null, facts),
  );
}

/** The kinds of SDL literals that are allowed for each stored type. */
const LITERALS: Readonly<Record<string, readonly string[]>> = {
  text: ['string'],
  uuid: ['string'],
  date: ['string'],
  time: ['string'],
  timestamp: ['string'],
  decimal: ['string', 'number'],
  bigint: ['string', 'number'],
  integer: ['number'],
  real: ['number'],
  boolean: ['boolean'],
};

function scalarProblem(type: GraphQLScalarType, value: unknown, facts: Facts): Problem | undefined {
  const stored = scalarType(type, facts);
  if (stored === 'json') return undefined;
  if (!LITERALS[stored]?.includes(typeof value)) return noValue(type, value);
  return stored === 'integer' && !Number.isInteger(value)
    ? { why: `${String(value)} is no whole number` }
    : undefined;
}
