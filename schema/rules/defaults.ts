import { isEnumType } from 'graphql';
import { storedAs } from '../build/columns.ts';
import { coordinate } from '../build/facts.ts';
import type { FieldFact } from '../build/facts.ts';
import { didYouMean } from '../did-you-mean.ts';
import type { Finding } from '../parse/places.ts';
import type { ColumnType, IdKind } from '../model.ts';
import { finding, withDirective } from './finding.ts';
import type { Rule } from './finding.ts';

/** DEFAULT_INVALID: a default is one value, of the field's own type. */
export const defaults: Rule = function* ({ facts, project }) {
  for (const entity of facts.entities.values()) {
    for (const field of entity.fields.values()) {
      const said = field.directives.default;
      const stored = field.name === 'id' ? 'id' : storedAs(field, facts);
      if (!said || !stored) continue;
      const advice = problem(field, stored, said, project.ids);
      if (advice) yield report(field, advice);
    }
  }
};

const EXAMPLES: Readonly<Record<string, string>> = {
  Int: '0',
  Float: '0.5',
  Boolean: 'false',
  String: '"text"',
};

interface Problem {
  readonly why: string;
  readonly fix?: string | undefined;
}

function report(field: FieldFact, { why, fix }: Problem): Finding {
  const example = withDirective(field, `@default(value: ${EXAMPLES[field.named.name] ?? '"…"'})`);
  return finding(
    'DEFAULT_INVALID',
    `The default of ${coordinate(field)} does not fit`,
    field.directives.default?.node,
    { why, fix: fix ?? example },
  );
}

function problem(
  field: FieldFact,
  stored: ColumnType,
  said: NonNullable<FieldFact['directives']['default']>,
  ids: IdKind,
): Problem | undefined {
  if ((said.value === undefined) === (said.expr === undefined))
    return {
      why: 'it needs either a value or an expression',
      fix: '@default(value: "draft")   or   @default(expr: NOW)',
    };
  if (said.expr !== undefined) return expressionProblem(field, stored, said.expr, ids);
  return valueProblem(field, stored, said.value);
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

/** What a literal of the SDL may be, by the form that it is stored in. */
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
