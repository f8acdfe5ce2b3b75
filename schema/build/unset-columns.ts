import type { Column, Write, WriteShape } from '../model.ts';
import { ownerColumn } from './access.ts';
import type { EntityFact } from './facts.ts';
import { Refusal, type Shapes } from './shapes.ts';
import { tenantPath } from './tenant.ts';

/**
 * Refuses a create that could never succeed, because it does not set a required column. `given` are
 * columns that are set in another way.
 *
 * @throws Refusal 'nothing sets title, which is required and has no default'
 */
export function assertSet(
  shapes: Shapes,
  entity: EntityFact,
  shape: WriteShape | undefined,
  given: readonly string[] = [],
): void {
  for (const write of shape?.writes ?? []) {
    if (isVersion(entity, write.name))
      throw new Refusal(`${write.name} is the version that was read, and a new row has none`, {
        code: 'VERSION_UNFIT',
        fix: `an input of its own for the update, and no ${write.name} in this one`,
      });
    const place = shapes.operators.get(write);
    if (place !== undefined)
      throw new Refusal(`${place} changes an old value, and a new row has none`, {
        code: 'OPERATOR_UNFIT',
        fix: `an input of its own for the update, and in this one ${write.name} as the field has it`,
      });
  }
  if (!shape || shapes.facts.hooks[entity.name]?.completesCreate) return;
  const [first, ...more] = unsetColumns(shapes, entity, shape, given).map(
    (column) => column.field ?? column.name.replace(/_id$/, ''),
  );
  if (first === undefined) return;
  const rest = more.length > 4 ? [...more.slice(0, 4), `${more.length - 4} others`] : more;
  const what =
    more.length === 0
      ? `${first}, which is required and has`
      : `${[first, ...rest].join(', ')}, which are required and have`;
  throw new Refusal(`nothing sets ${what} no default`, {
    code: 'CREATE_FIELD_UNSET',
    fix: `add ${first} to ${shape.id.slice(0, shape.id.lastIndexOf(':'))}, or give it a @default`,
  });
}

/** Whether a member of an input, or an argument, is the version that the caller has read. */
export const isVersion = ({ fields }: EntityFact, name: string): boolean =>
  fields.get(name)?.directives.version === true;

function unsetColumns(
  shapes: Shapes,
  entity: EntityFact,
  shape: WriteShape,
  given: readonly string[],
): Column[] {
  const columns = shapes.columns.get(entity.name) ?? [];
  const partsOf = (name: string) => columns.find((each) => each.name === name)?.parts ?? [];
  const set = new Set(
    shape.writes
      .flatMap((write) => writtenColumns(shapes, entity, write))
      .flatMap((name) => [name, ...partsOf(name)]),
  );
  const owners = ownerColumns(shapes, entity);
  // The parts of a composite key are required columns themselves.
  const needed = columns.filter(
    ({ required, default: value, stamp, parts, readOnly }) =>
      required && !value && !stamp && !parts && !readOnly,
  );
  return needed.filter(({ name }) => !given.includes(name) && !set.has(name) && !owners.has(name));
}

/** Under a TENANT rule, a row without a given organization belongs to that of the request. */
function tenantColumns(shapes: Shapes, entity: EntityFact): string[] {
  return entity.directives.auth.flatMap((use) => {
    const path =
      use.allow.includes('TENANT') && use.on.includes('CREATE')
        ? tenantPath(shapes, use, entity)
        : undefined;
    return path && path.through.length === 0 && path.column !== 'id' ? [path.column] : [];
  });
}

/**
 * Under an OWNER rule, a row without a given owner belongs to the caller who creates it; under
 * TENANT, to the organization of the request.
 */
export function ownerColumns(shapes: Shapes, entity: EntityFact): ReadonlySet<string> {
  const uses = entity.directives.auth.filter(
    (use) => use.allow.includes('OWNER') && use.on.includes('CREATE'),
  );
  return new Set([
    ...uses.flatMap((use) => ownerColumn(shapes, use, entity) ?? []),
    ...tenantColumns(shapes, entity),
  ]);
}

function writtenColumns({ links }: Shapes, entity: EntityFact, write: Write): string[] {
  if (write.kind === 'column') return [write.column];
  if (write.kind !== 'key' && write.kind !== 'nested') return [];
  const field = entity.fields.get(write.field);
  const link = field && links.byField.get(field);
  return link?.kind === 'own'
    ? [link.key.column, ...(link.key.typeColumn ? [link.key.typeColumn] : [])]
    : [];
}
