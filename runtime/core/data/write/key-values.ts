import { failure } from '../../errors.ts';
import { fieldOfColumn, found, propertyOf, type EntityModel } from '../model.ts';
import { stored } from '../sql/stored-as.ts';
import { toStored } from '../sql/values.ts';
import { locate, type KeyValues } from './row-key.ts';
import { existing } from './write-relation.ts';
import type { Writer, Writing } from './writer.ts';

/**
 * Completes a new row by the key that it was looked for. What the key contains is checked like an
 * input, because it reaches the row without being one.
 *
 * @throws AppError `BAD_USER_INPUT` when it is no key, or refers to a row that the caller may not
 * read; `FORBIDDEN` for what users sign in with.
 */
export async function completeByKey(
  writing: Writing,
  entity: EntityModel,
  key: KeyValues,
  values: Map<string, unknown>,
): Promise<void> {
  for (const [column, value] of key) {
    if (values.get(column) !== undefined) continue;
    assertIdentityKept(writing, entity.entity.name, { column, name: column });
    if (column === 'id') assertId(writing, entity, value, column);
    else await assertReferred(writing, entity, column, value);
    values.set(column, value);
  }
}

/** Checks a column that refers to another row; other columns are let through. */
async function assertReferred(
  writing: Writing,
  entity: EntityModel,
  column: string,
  value: unknown,
): Promise<void> {
  const source = fieldOfColumn(entity, column)?.source;
  if (source?.kind !== 'one') return;
  const other = writing.model.entity(source.entity);
  const at = propertyOf(entity, found(entity.columns.get(column), `column ${column}`));
  const key = source.to ? await locate(writing, other, new Map([[source.to, value]])) : value;
  await existing(writing, other, key, at);
}

/**
 * SQLite keeps null as a key, or gives the row another one, so a malformed key may not become null.
 *
 * @throws AppError `BAD_USER_INPUT`
 */
export function assertId(
  { model, dialect }: Writer,
  entity: EntityModel,
  value: unknown,
  name: string,
): void {
  if (toStored(value, stored(model, entity, 'id'), model.ids, dialect) === null)
    throw failure.invalid(`${name} is no key of ${entity.entity.name}`, {
      extensions: { field: name },
    });
}

/**
 * The generator refuses a schema whose mutations write the columns that users sign in with. This
 * check covers models from another source, and rows that are made by the key that they were looked
 * for.
 *
 * @throws AppError `FORBIDDEN`
 */
export function assertIdentityKept(
  { model, rules }: Writer,
  entity: string,
  { column, name }: { readonly column: string; readonly name: string },
): void {
  const user = model.project.auth?.user;
  if (!user || user.entity !== entity || rules.writesIdentity) return;
  if (user.identity.includes(column))
    throw failure.forbidden(`${name} is changed by the flows of signing in alone`);
}
