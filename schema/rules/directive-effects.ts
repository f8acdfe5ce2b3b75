import { isInterfaceType } from 'graphql';
import type { ASTNode, ConstDirectiveNode, GraphQLInterfaceType, GraphQLObjectType } from 'graphql';
import type { FieldDirectives } from '../directives/of-fields.ts';
import { aggregatedEntity } from '../build/aggregated.ts';
import { connectionOf } from '../build/connections.ts';
import { isByCaller, storedAs } from '../build/columns.ts';
import { coordinate, type Facts, type FieldFact } from '../build/facts.ts';
import type { Built } from '../build/built.ts';
import type { Change } from '../parse/changes.ts';
import type { Finding } from '../parse/places.ts';
import { isOurDirective } from '../our-directives.ts';
import { finding, removed, retyped, type Rule } from './finding.ts';

/**
 * DIRECTIVE_WITHOUT_EFFECT, VERSION_UNFIT, TIMESTAMP_TYPE: a directive that has no effect at its
 * place, and a timestamp whose type is not DateTime.
 */
export const directiveEffects: Rule = function* (built) {
  for (const entity of built.facts.entities.values()) {
    for (const field of entity.fields.values()) {
      yield* ineffective(built, field);
      yield* timestampType(built.facts, field);
    }
  }
  for (const { field } of built.operations) yield* onRoot(built, field);
  yield* findingsOnOtherTypes(built.facts);
};

interface Demand {
  readonly name: keyof FieldDirectives;
  readonly code?: string;
  readonly why: string;
  readonly met: (built: Built, field: FieldFact) => boolean;
}

const ON_ENTITIES: readonly Demand[] = [
  {
    name: 'relation',
    why: 'the field does not lead to an entity',
    met: ({ links }, field) =>
      links.byField.has(field) ||
      links.doubts.some((doubt) => doubt.field === field || doubt.candidates.includes(field)),
  },
  {
    name: 'unique',
    why: 'the field is no single column',
    met: ({ facts, links }, field) =>
      isColumn(facts, field) || links.byField.get(field)?.kind === 'own',
  },
  {
    name: 'default',
    why: 'the field is no column',
    met: ({ facts, links }, field) =>
      field.name === 'id' ||
      storedAs(field, facts) !== undefined ||
      (links.byField.get(field)?.kind === 'own' && isByCaller(facts, field)),
  },
  {
    name: 'updatedAt',
    why: 'the field is no DateTime',
    met: ({ facts }, field) => storedAs(field, facts) === 'timestamp',
  },
  {
    name: 'version',
    code: 'VERSION_UNFIT',
    why: 'the server counts in one column of a type, which is Int!',
    met: ({ shapes }, { owner, name }) =>
      shapes.columns.get(owner)?.find(({ version }) => version)?.field === name,
  },
  {
    name: 'list',
    why: 'the field is no list of entities',
    met: ({ facts, links }, field) =>
      aggregatedEntity(field, facts) !== undefined ||
      links.views.of.has(field) ||
      (links.byField.has(field) &&
        (field.type.list || connectionOf(field.named.name, facts) !== undefined)),
  },
  { name: 'resolve', why: 'it is for fields of Query and Mutation', met: () => false },
];

function isColumn(facts: Facts, field: FieldFact): boolean {
  const stored = field.name === 'id' ? 'id' : storedAs(field, facts);
  return stored !== undefined && stored !== 'json';
}

function* ineffective(built: Built, field: FieldFact): Generator<Finding> {
  for (const { name, why, met, code } of ON_ENTITIES)
    if (field.directives[name] && !met(built, field)) yield report(field, name, why, code);
}

const ONLY_ON_ENTITIES: readonly (keyof FieldDirectives)[] = [
  'relation',
  'unique',
  'default',
  'updatedAt',
  'version',
  'renamed',
];

function* onRoot({ facts }: Built, field: FieldFact): Generator<Finding> {
  for (const name of ONLY_ON_ENTITIES)
    if (field.directives[name])
      yield report(field, name, 'it is for fields of types that are kept in a table');
  const list =
    field.type.list ||
    connectionOf(field.named.name, facts) !== undefined ||
    aggregatedEntity(field, facts) !== undefined;
  if (field.directives.list && !list)
    yield report(field, 'list', 'the field is no list of entities');
}

/**
 * Rules on payloads, connections, stored values and interfaces are never checked at run time: an
 * `@auth` there would give false security.
 */
function* findingsOnOtherTypes(facts: Facts): Generator<Finding> {
  for (const { type, role, directives } of facts.types.values()) {
    if (role === 'entity' || role === 'root') continue;
    for (const { node } of directives.indexes)
      yield onType('index', type.name, node, 'remove it, or add id: ID!');
    for (const { node } of directives.auth)
      yield onType('auth', type.name, node, 'write it on the fields that lead here');
    yield* findingsOnFields(type, 'the type is not kept in a table');
  }
  for (const type of Object.values(facts.schema.getTypeMap()))
    if (isInterfaceType(type))
      yield* findingsOnFields(type, 'an interface has no rows; its members have');
}

const ALLOWED_ANYWHERE = new Set(['computed', 'constraint', 'renamed']);

function* findingsOnFields(
  type: GraphQLObjectType | GraphQLInterfaceType,
  why: string,
): Generator<Finding> {
  for (const field of Object.values(type.getFields())) {
    for (const directive of field.astNode?.directives ?? []) {
      const { value: name } = directive.name;
      if (isOurDirective(directive) && !ALLOWED_ANYWHERE.has(name))
        yield finding('DIRECTIVE_WITHOUT_EFFECT', directive, {
          summary: `@${name} has no effect on ${type.name}.${field.name}`,
          why,
          fix: name === 'auth' ? 'write it on the fields that lead here' : 'remove it',
          changes: removed(directive),
        });
    }
  }
}

function onType(directive: string, type: string, node: ASTNode, fix: string): Finding {
  return finding('DIRECTIVE_WITHOUT_EFFECT', node, {
    summary: `@${directive} has no effect on ${type}`,
    why: 'the type is not kept in a table',
    fix,
    changes: removed(node as ConstDirectiveNode),
  });
}

function report(
  field: FieldFact,
  name: string,
  why: string,
  code = 'DIRECTIVE_WITHOUT_EFFECT',
): Finding {
  const node = field.field.astNode?.directives?.find((directive) => directive.name.value === name);
  return finding(code, node ?? field.node, {
    summary: `@${name} has no effect on ${coordinate(field)}`,
    why,
    fix: 'remove it',
    changes: node && removed(node),
  });
}

/** The scalar must be declared before it is used. */
function dateTime(field: FieldFact): Change[] {
  const change = retyped(field, field.type.required ? 'DateTime!' : 'DateTime');
  const { astNode } = field.field;
  return astNode
    ? [change, { kind: 'definition', beside: astNode, text: 'scalar DateTime' }]
    : [change];
}

function* timestampType(facts: Facts, field: FieldFact): Generator<Finding> {
  const kept = ['created_at', 'updated_at'].includes(field.snakeName);
  const stored = storedAs(field, facts);
  if (!kept || !stored || stored === 'timestamp' || facts.parsed.unknown.has(field.named.name))
    return;
  yield finding('TIMESTAMP_TYPE', field.node, {
    summary: `${coordinate(field)} is ${field.type.text}, so the server does not keep it`,
    why: 'only a DateTime is filled by itself',
    fix: (line) => (facts.schema.getType('DateTime') ? line : `${line}   with   scalar DateTime`),
    changes: facts.schema.getType('DateTime')
      ? [retyped(field, field.type.required ? 'DateTime!' : 'DateTime')]
      : dateTime(field),
    severity: 'hint',
  });
}
