import { coordinate, type FieldFact } from '../build/facts.ts';
import type { Link } from '../build/links.ts';
import type { Finding } from '../parse/places.ts';
import { finding, onField, quoted, withoutArgument, type Rule } from './finding.ts';

/**
 * RELATION_ARGUMENT: an argument of @relation must be on the right side of the relation, and
 * possible there.
 */
export const relationArguments: Rule = function* ({ facts, links }) {
  for (const [field, link] of links.byField) {
    const written = field.directives.relation;
    if (!written) continue;
    const owns = ownsKey(link);
    if (written.onDelete) yield* deleteProblems(field, link, written);
    if (written.table !== undefined && link.kind !== 'join')
      yield finding('RELATION_ARGUMENT', written.node, {
        summary: `${coordinate(field)} has no join table`,
        fix: 'remove table',
        changes: withoutArgument(field, 'table'),
      });
    if (written.references && written.references.length > 1)
      yield severalFields(field, facts.entities.get(field.named.name)?.key ?? [], written);
    const { column } = written;
    if (column !== undefined && !owns && !sameColumn(link, column))
      yield noColumn(field, link, { ...written, column });
  }
};

function* deleteProblems(field: FieldFact, link: Link, written: Written): Generator<Finding> {
  if (written.onDelete === 'set null' && link.kind === 'own' && field.type.required)
    yield requiredField(field, written);
  else if (!ownsKey(link)) yield noOnDelete(field, link, written);
}

const ownsKey = ({ kind, inverse }: Link) => kind === 'own' || (kind === 'other' && !inverse);

type Written = NonNullable<FieldFact['directives']['relation']>;

const requiredField = (field: FieldFact, { node }: Written) =>
  finding('RELATION_ARGUMENT', node, {
    summary: `${coordinate(field)} is required and cannot become null`,
    fix: 'onDelete: CASCADE or RESTRICT, or a type without !',
    changes: [onField(field, 'relation', { onDelete: 'RESTRICT' })],
  });

const noOnDelete = (field: FieldFact, { inverse }: Link, { node }: Written) =>
  finding('RELATION_ARGUMENT', node, {
    summary: `onDelete has no effect on ${coordinate(field)}`,
    why: 'the key is kept elsewhere',
    fix: inverse
      ? `write it on ${coordinate(inverse)}`
      : 'remove it: rows of a join table go with either side',
    changes: withoutArgument(field, 'onDelete'),
  });

/** A relation over several columns leads to the key, whose columns the server knows as one value. */
const severalFields = (field: FieldFact, key: readonly string[], { node, references }: Written) =>
  finding('RELATION_ARGUMENT', node, {
    summary: `${coordinate(field)} refers to several fields of ${field.named.name}`,
    why: 'a relation leads to the key, or to one other unique field',
    ...(key.join() === references?.join()
      ? {
          fix: 'remove references: they are the key',
          changes: withoutArgument(field, 'references'),
        }
      : { fix: `name one field, or write fields for the columns in place of ${field.name}` }),
  });

function noColumn(
  field: FieldFact,
  { inverse }: Link,
  { node, column }: Written & { readonly column: string },
): Finding {
  const moved = inverse ? [onField(inverse, 'relation', { column: quoted(column) })] : [];
  return finding('RELATION_ARGUMENT', node, {
    summary: `column has no effect on ${coordinate(field)}`,
    why: 'the key is kept by the other end',
    ...(!inverse && { fix: 'remove column' }),
    changes: [...withoutArgument(field, 'column'), ...moved],
  });
}

function sameColumn(link: { kind: string; key?: { column: string } }, column: string): boolean {
  return link.kind === 'other' && link.key?.column === column;
}
