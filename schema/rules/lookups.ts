import { coordinate } from '../build/facts.ts';
import { finding } from './finding.ts';
import type { Rule } from './finding.ts';

/** LOOKUP_NOT_UNIQUE: a single result by fields of which several rows may have the same. */
export const lookups: Rule = function* ({ operations, facts }) {
  for (const { field, operation } of operations) {
    const { action } = operation;
    if (action.kind !== 'get' || action.unique) continue;
    const names = action.by.map(({ arg }) => arg);
    const [only] = names;
    const column =
      only === undefined ? undefined : facts.entities.get(action.entity)?.fields.get(only);
    const fix =
      names.length === 1 && column
        ? `${column.name}: ${column.type.text} @unique`
        : `type ${action.entity} @index(fields: ${JSON.stringify(names)}, unique: true)`;
    yield finding(
      'LOOKUP_NOT_UNIQUE',
      `${coordinate(field)} may find several rows and answers with the first`,
      field.node,
      { why: `${names.join(', ')} of ${action.entity} need not be unique`, fix },
      'hint',
    );
  }
};
