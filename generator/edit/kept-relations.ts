import type { Field, Project } from '@twofold/schema';
import { CommandError, EXIT } from '../failure.ts';

/**
 * The relations of both models have to be the same ones: names decide which two fields are one
 * relation, and another name would be another column.
 *
 * @throws CommandError `RENAME_BREAKS`
 */
export function assertKeptRelations(before: Project, after: Project): void {
  const other = before.entities.flatMap(({ name, fields }, at) =>
    fields
      .filter((field, index) => shapeOf(field) !== shapeOf(after.entities[at]?.fields[index]))
      .map((field) => ({ coordinate: `${name}.${field.name}`, inverse: inverseOf(field) })),
  );
  const [first] = other.toSorted((a, b) => Number(!a.inverse) - Number(!b.inverse));
  if (!first) return;
  throw new CommandError('RENAME_BREAKS', {
    message: `nothing was renamed: ${first.coordinate} would be another relation, because the names decide which fields are one`,
    fix: `add @relation(inverse: "${first.inverse}") to ${first.coordinate}, then rename again`,
    exit: EXIT.invalid,
  });
}

function shapeOf(field: Field | undefined): string {
  const { source } = field ?? {};
  if (source?.kind === 'one') return `one ${source.key} ${source.inverse !== undefined}`;
  if (source?.kind === 'many') return `many ${source.via.kind} ${source.inverse !== undefined}`;
  return source?.kind ?? '';
}

/** The other end of a relation whose column is in the other table. */
function inverseOf({ source }: Field): string | undefined {
  if (source.kind === 'many') return source.inverse;
  return source.kind === 'one' && source.key === 'inverse' ? source.inverse : undefined;
}
