import type { FieldDirectives } from '../build/directive-uses.ts';
import { connectionOf } from '../build/connections.ts';
import { storedAs } from '../build/columns.ts';
import { coordinate } from '../build/facts.ts';
import type { Facts, FieldFact } from '../build/facts.ts';
import type { Built } from '../build/project.ts';
import type { Diagnostic } from '../diagnostic.ts';
import { snakeCase } from '../names.ts';
import { finding } from './finding.ts';
import type { Rule } from './finding.ts';

/** DIRECTIVE_WITHOUT_EFFECT, TIMESTAMP_TYPE: a directive on a field that it can do nothing for, and a time that is no DateTime. */
export const directiveEffects: Rule = function* (built) {
  for (const entity of built.facts.entities.values()) {
    for (const field of entity.fields.values()) {
      yield* ineffective(built, field);
      yield* timestampType(built.facts, field);
    }
  }
  for (const { field } of built.operations) yield* onRoot(built, field);
  yield* onOthers(built.facts);
};

interface Demand {
  readonly name: keyof FieldDirectives;
  readonly why: string;
  readonly met: (built: Built, field: FieldFact) => boolean;
}

const ON_ENTITIES: readonly Demand[] = [
  { name: 'relation', why: 'the field does not lead to an entity', met: ({ links }, field) => links.byField.has(field) || links.doubts.some((doubt) => doubt.field === field || doubt.candidates.includes(field)) },
  { name: 'unique', why: 'the field is no single column', met: ({ facts, links }, field) => isColumn(facts, field) || links.byField.get(field)?.kind === 'own' },
  { name: 'default', why: 'the field is no single column', met: ({ facts }, field) => isColumn(facts, field) },
  { name: 'updatedAt', why: 'the field is no DateTime', met: ({ facts }, field) => storedAs(field, facts) === 'timestamp' },
  { name: 'list', why: 'the field is no list of entities', met: ({ facts, links }, field) => links.byField.has(field) && (field.type.list || connectionOf(field.named.name, facts) !== undefined) },
  { name: 'resolve', why: 'it is for fields of Query and Mutation', met: () => false },
];

function isColumn(facts: Facts, field: FieldFact): boolean {
  const stored = field.name === 'id' ? 'id' : storedAs(field, facts);
  return stored !== undefined && stored !== 'json';
}

function* ineffective(built: Built, field: FieldFact): Generator<Diagnostic> {
  for (const { name, why, met } of ON_ENTITIES) if (field.directives[name] && !met(built, field)) yield report(field, name, why);
}

const ONLY_ON_ENTITIES: readonly (keyof FieldDirectives)[] = ['relation', 'unique', 'default', 'updatedAt', 'renamed'];

function* onRoot({ facts }: Built, field: FieldFact): Generator<Diagnostic> {
  for (const name of ONLY_ON_ENTITIES) if (field.directives[name]) yield report(field, name, 'it is for fields of types that are kept in a table');
  const list = field.type.list || connectionOf(field.named.name, facts) !== undefined;
  if (field.directives.list && !list) yield report(field, 'list', 'the field is no list of entities');
}

/** On payloads, connections and stored values only @renamed, @auth and @constraint would be heard, and only by people. */
function* onOthers(facts: Facts): Generator<Diagnostic> {
  for (const { type, role, directives } of facts.types.values()) {
    if (role === 'entity' || role === 'root') continue;
    for (const node of directives.indexes) yield finding('DIRECTIVE_WITHOUT_EFFECT', `@index has no effect on ${type.name}`, node.node, { why: 'the type is not kept in a table', fix: 'remove it, or add id: ID!' });
    for (const use of directives.auth) yield finding('DIRECTIVE_WITHOUT_EFFECT', `@auth has no effect on ${type.name}`, use.node, { why: 'the type is not kept in a table', fix: 'write it on the fields that lead here' });
  }
}

function report(field: FieldFact, name: string, why: string): Diagnostic {
  const node = field.field.astNode?.directives?.find((directive) => directive.name.value === name);
  return finding('DIRECTIVE_WITHOUT_EFFECT', `@${name} has no effect on ${coordinate(field)}`, node ?? field.node, { why, fix: 'remove it' });
}

function* timestampType(facts: Facts, field: FieldFact): Generator<Diagnostic> {
  const kept = ['created_at', 'updated_at'].includes(snakeCase(field.name));
  const stored = storedAs(field, facts);
  if (!kept || !stored || stored === 'timestamp' || facts.parsed.unknown.has(field.named.name)) return;
  yield finding('TIMESTAMP_TYPE', `${coordinate(field)} is ${field.type.text}, so the server does not keep it`, field.node, { why: 'only a DateTime is filled by itself', fix: `${field.name}: DateTime!   with   scalar DateTime` }, 'hint');
}
