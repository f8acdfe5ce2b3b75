import { isEnumType } from 'graphql';
import { storedAs } from '../build/columns.ts';
import { coordinate } from '../build/facts.ts';
import type { FieldFact } from '../build/facts.ts';
import { didYouMean } from '../did-you-mean.ts';
import type { Finding } from '../parse/places.ts';
import type { ColumnType, IdKind } from '../model.ts';
import type { Change } from '../parse/changes.ts';
import { finding } from './finding.ts';
import type { Rule } from './finding.ts';

/** DEFAULT_INVALID: a default is a single value of the field's type. */
export const defaults: Rule = function* ({ facts, project }) {
  for (const entity of facts.entities.values()) {
    for (const field of entity.fields.values()) {
      const written = field.directives.default;
      const stored = field.name === 'id' ? 'id' : storedAs(field, facts);
      if (!written || !stored || written.expr === 'DATABASE') continue;
      const advice = problem(field, stored, written, project.ids);
      if (advice) yield report(field, stored, advice);
    }
  }
};

const EXAMPLES: Readonly<Partial<Record<ColumnType, string>>> = {
  integer: 'value: 0',
  real: 'value: 0.5',
  boolean: 'value: false',
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
  const example = exampleOf(field, stored);
  const change: Change[] =
    node && within
      ? [
          example === undefined
            ? { kind: 'remove', node, within }
            : { kind: 'replace', node, text: `@default(${example})`, within },
        ]
      : [];
  return finding('DEFAULT_INVALID', `The default of ${coordinate(field)} does not fit`, node, {
    why,
    fix,
    changes: change,
  });
}

/** A possible default of the field; undefined if none can be invented. */
function exampleOf({ named, type, name }: FieldFact, stored: ColumnType): string | undefined {
  if (type.list || name === 'id') return undefined;
  if (isEnumType(named)) return `value: ${named.getValues()[0]?.name}`;
  return named.name === 'String' ? 'value: "text"' : EXAMPLES[stored];
}

function problem(
  field: FieldFact,
  stored: ColumnType,
  written: NonNullable<FieldFact['directives']['default']>,
  ids: IdKind,
): Problem | undefined {
  if ((written.value === undefined) === (written.expr === undefined))
    return {
      why: 'it needs either a value or an expression',
    };
  if (written.expr !== undefined) return expressionProblem(field, stored, written.expr, ids);
  return valueProblem(field, stored, written.value);
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

function valueProblem(field: FieldFact, stored: ColumnType, value: unknown): Problem | undefined {
  const { named, type } = field;
  if (value === null) return type.required ? { why: 'the field is required' } : undefined;
  if (field.name === 'id') return { why: 'a key cannot be the same in every row' };
  if (isEnumType(named) && !type.list) {
    const words = named.getValues().map(({ name }) => name);
    return words.includes(String(value))
      ? undefined
      : {
          why: `${named.name} has no value ${String(value)}`,
          fix: didYouMean(String(value), words) ?? `one of ${words.join(', ')}`,
        };
  }
  if (!LITERALS[stored]?.includes(typeof value))
    return { why: `${JSON.stringify(value)} is no ${type.text.replace(/!$/, '')}` };
  return stored === 'integer' && !Number.isInteger(value)
    ? { why: `${String(value)} is no whole number` }
    : undefined;
}
