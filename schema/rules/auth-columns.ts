import { PROTECTED } from '../build/auth.ts';
import { coordinate } from '../build/facts.ts';
import type { Built } from '../build/project.ts';
import { shapeOwner } from '../build/write-shapes.ts';
import type { WriteShape } from '../model.ts';
import { finding } from './finding.ts';
import type { Rule } from './finding.ts';

/** AUTH_COLUMN_WRITTEN: mutations leave alone what signing in keeps. */
export const authColumns: Rule = function* (built) {
  const user = built.project.auth?.user;
  if (!user?.entity) return;
  const columns = new Set(PROTECTED.map((attribute) => user.columns[attribute]));
  for (const shape of built.shapes.writes.values()) {
    for (const write of shape.entity === user.entity ? shape.writes : []) {
      if (write.kind !== 'column' || !columns.has(write.column)) continue;
      const owner = shapeOwner(shape.id);
      yield finding(
        'AUTH_COLUMN_WRITTEN',
        `${owner}.${write.name} could be set by anyone who may call the mutation`,
        place(built, owner, write),
        { why: 'only signing in may say so', fix: 'remove it from the input' },
      );
    }
  }
};

/** The field of the input type, or the mutation whose argument it is. */
function place({ facts, operations }: Built, owner: string, write: WriteShape['writes'][number]) {
  const type = facts.schema.getType(owner);
  if (type && 'getFields' in type) return type.getFields()[write.name]?.astNode?.name;
  return operations.find(({ field }) => coordinate(field) === owner)?.field.node;
}
