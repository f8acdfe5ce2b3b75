import type { Built } from '../build/built.ts';
import { storedAs } from '../build/columns.ts';
import { coordinate, type EntityFact, type FieldFact } from '../build/facts.ts';
import { fitsDatabaseType } from '../database-types.ts';
import { didYouMean } from '../did-you-mean.ts';
import type { Action } from '../model.ts';
import type { Finding } from '../parse/places.ts';
import { finding, type Rule } from './finding.ts';

/**
 * TABLE_KEY_UNKNOWN, TABLE_KEY_NULLABLE, COLUMN_TYPE_UNFIT, VIEW_WRITTEN, ENTITY_KEY_MISSING,
 * DIRECTIVE_WITHOUT_EFFECT: what @table and @column say has to fit the type.
 */
export const adoptedTables: Rule = function* (built) {
  for (const entity of built.facts.entities.values()) {
    yield* tableFindings(built, entity);
    for (const field of entity.fields.values()) yield* typeFindings(built, field);
  }
  yield* writtenViews(built);
};

function* tableFindings(built: Built, entity: EntityFact): Generator<Finding> {
  const { table, entity: words } = entity.directives;
  if (!table) return;
  if (table.name !== undefined && words?.table !== undefined)
    yield finding('DIRECTIVE_WITHOUT_EFFECT', words.node, {
      summary: `@entity(table:) has no effect on ${entity.name}`,
      why: '@table(name:) names its table',
      fix: 'remove table:',
    });
  if (!table.view && entity.key?.length === 0)
    yield finding('ENTITY_KEY_MISSING', table.node, {
      summary: `${entity.name} has no key`,
      why: 'a row that is written has to be found again',
      fix: 'id: ID!, @table(key:) with the fields of its key, or view: true where it has none',
    });
  for (const name of entity.key ?? []) yield* keyFindings(built, entity, name);
}

function* keyFindings(built: Built, entity: EntityFact, name: string): Generator<Finding> {
  const at = entity.directives.table?.node;
  const field = entity.fields.get(name);
  const isOwn = field && built.links.byField.get(field)?.kind === 'own';
  const stored = field && storedAs(field, built.facts);
  if (!field || (!isOwn && (!stored || stored === 'json'))) {
    const why = field ? `${coordinate(field)} is no column` : undefined;
    const meant = didYouMean(name, entity.fields.keys());
    const fix = field ? 'name fields that are columns, or lead to one row' : meant;
    yield finding('TABLE_KEY_UNKNOWN', at, {
      summary: `${entity.name} has no field ${name} for its key`,
      ...(why !== undefined && { why }),
      fix: fix ?? `known: ${[...entity.fields.keys()].join(', ')}`,
    });
  } else if (!field.type.required)
    yield finding('TABLE_KEY_NULLABLE', field.node, {
      summary: `${coordinate(field)} is part of the key`,
      why: 'a column of a key always has a value',
      fix: `${field.name}: ${field.type.text}!`,
    });
}

function* typeFindings({ facts }: Built, field: FieldFact): Generator<Finding> {
  const { column } = field.directives;
  if (column?.type === undefined) return;
  const stored = field.name === 'id' ? 'id' : storedAs(field, facts);
  if (!stored || fitsDatabaseType({ type: stored, list: field.type.list }, column.type) !== false)
    return;
  yield finding('COLUMN_TYPE_UNFIT', column.node, {
    summary: `${coordinate(field)} is ${field.type.text}, and ${column.type} holds other values`,
    fix: 'the type that the column has, or another type of the field',
  });
}

const WRITES: ReadonlySet<Action['kind']> = new Set([
  'create',
  'update',
  'remove',
  'upsert',
  'createMany',
  'updateMany',
  'removeMany',
]);

function* writtenViews({ facts, operations, shapes }: Built): Generator<Finding> {
  const isView = (name: string) => {
    const entity = facts.entities.get(name);
    return entity?.directives.table?.view === true || entity?.key?.length === 0;
  };
  for (const { field, operation } of operations) {
    const { action } = operation;
    if (!WRITES.has(action.kind) || !('entity' in action) || !isView(action.entity)) continue;
    yield viewWritten(`${coordinate(field)} would write ${action.entity}`, field.node);
  }
  for (const { id, entity, writes } of shapes.writes.values())
    for (const write of writes) {
      const links = write.kind === 'nested' || write.kind === 'keys';
      const source = links && facts.entities.get(entity)?.fields.get(write.field);
      const link = source && shapes.links.byField.get(source);
      if (source && link && isView(link.entity))
        yield viewWritten(
          `${id.split(':')[0]}.${write.name} would write ${link.entity}`,
          source.node,
        );
    }
}

const viewWritten = (summary: string, at: FieldFact['node']): Finding =>
  finding('VIEW_WRITTEN', at, {
    summary,
    why: 'a view is only read',
    fix: 'remove it, or write the table behind the view',
  });
