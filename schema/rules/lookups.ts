import { coordinate, type EntityFact } from '../build/facts.ts';
import type { Change } from '../parse/changes.ts';
import { finding, onField, type Rule } from './finding.ts';

/** LOOKUP_NOT_UNIQUE: a single result is looked up by fields that several rows may share. */
export const lookups: Rule = function* ({ operations, facts }) {
  for (const { field, operation } of operations) {
    const { action } = operation;
    if (action.kind !== 'get' || action.unique) continue;
    const names = action.by.map(({ arg }) => arg);
    const [only] = names;
    const column =
      only === undefined ? undefined : facts.entities.get(action.entity)?.fields.get(only);
    const entity = facts.entities.get(action.entity);
    if (!entity) continue;
    const change =
      names.length === 1 && column ? onField(column, 'unique') : indexOn(entity, names);
    yield finding('LOOKUP_NOT_UNIQUE', field.node, {
      summary: `${coordinate(field)} may find several rows and answers with the first`,
      why: `${names.join(', ')} of ${action.entity} need not be unique`,
      changes: [change],
      severity: 'hint',
    });
  }
};

/** Adds another `@index`: existing ones are for other fields. */
function indexOn(entity: EntityFact, names: readonly string[]): Change {
  return {
    kind: 'directive',
    on: entity.definitions[0] ?? entity.node!,
    name: 'index',
    args: { fields: JSON.stringify(names), unique: 'true' },
    repeated: true,
  };
}
