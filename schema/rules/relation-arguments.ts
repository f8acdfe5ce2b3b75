import { coordinate } from '../build/facts.ts';
import { finding, onField, quoted, withoutArgument } from './finding.ts';
import type { Rule } from './finding.ts';

/**
 * RELATION_ARGUMENT: an argument of @relation must be on the right side of the relation, and
 * possible there.
 */
export const relationArguments: Rule = function* ({ links }) {
  for (const [field, link] of links.byField) {
    const written = field.directives.relation;
    if (!written) continue;
    const owns = link.kind === 'own' || (link.kind === 'other' && !link.inverse);
    if (written.onDelete === 'set null' && link.kind === 'own' && field.type.required) {
      yield finding(
        'RELATION_ARGUMENT',
        `${coordinate(field)} is required and cannot become null`,
        written.node,
        {
          fix: 'onDelete: CASCADE or RESTRICT, or a type without !',
          changes: [onField(field, 'relation', { onDelete: 'RESTRICT' })],
        },
      );
    } else if (written.onDelete && !owns) {
      const where = link.inverse
        ? `write it on ${coordinate(link.inverse)}`
        : 'remove it: rows of a join table go with either side';
      yield finding(
        'RELATION_ARGUMENT',
        `onDelete has no effect on ${coordinate(field)}`,
        written.node,
        {
          why: 'the key is kept elsewhere',
          fix: where,
          changes: withoutArgument(field, 'onDelete'),
        },
      );
    }
    if (written.table !== undefined && link.kind !== 'join')
      yield finding('RELATION_ARGUMENT', `${coordinate(field)} has no join table`, written.node, {
        fix: 'remove table',
        changes: withoutArgument(field, 'table'),
      });
    if (written.column !== undefined && !owns && !sameColumn(link, written.column)) {
      yield finding(
        'RELATION_ARGUMENT',
        `column has no effect on ${coordinate(field)}`,
        written.node,
        {
          why: 'the key is kept by the other end',
          ...(!link.inverse && { fix: 'remove column' }),
          changes: [
            ...withoutArgument(field, 'column'),
            ...(link.inverse
              ? [onField(link.inverse, 'relation', { column: quoted(written.column) })]
              : []),
          ],
        },
      );
    }
  }
};

function sameColumn(link: { kind: string; key?: { column: string } }, column: string): boolean {
  return link.kind === 'other' && link.key?.column === column;
}
