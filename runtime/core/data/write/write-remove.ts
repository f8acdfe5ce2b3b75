import { refusal, type Access } from '../access/access.ts';
import type { EntityModel } from '../model.ts';
import { rowHooks, type RowHooks } from './row-hooks.ts';
import { readRow } from './stored-row.ts';
import { deleteRow, isWritable, type Key, type KnownRow, type Writing } from './writer.ts';

/** Deletes a row. @returns whether it existed */
async function removeRow(
  writing: Writing,
  entity: EntityModel,
  row: KnownRow,
  access: Access,
): Promise<boolean> {
  const hooks = await hooksOfRow(writing, entity, 'delete', { key: row.id, access });
  await hooks?.check({});
  if (!(await deleteRow(writing, entity, row, access))) return false;
  await hooks?.after(writing, null);
  return true;
}

/**
 * The hooks for a stored row. Undefined when there are none, when the row does not exist, or when
 * the caller may not write it: in these cases the statement itself reports the error.
 */
export async function hooksOfRow(
  writing: Writing,
  entity: EntityModel,
  operation: 'update' | 'delete',
  { key, access }: { readonly key: Key; readonly access: Access },
): Promise<RowHooks | undefined> {
  const hooks = rowHooks(writing, entity, operation);
  if (!hooks) return undefined;
  if (access.kind === 'none') throw refusal(access.code);
  const mayWrite = await isWritable(writing, entity, key, access);
  return mayWrite && (await hooks.begin(writing, key)) ? hooks : undefined;
}

/** Deletes a row and tells subscribers. @returns whether it existed */
export async function removeAndNote(
  writing: Writing,
  entity: EntityModel,
  known: KnownRow,
  access: Access,
): Promise<boolean> {
  const { name } = entity.entity;
  const { removal } = writing;
  const { id } = known;
  const row = removal?.watchesRemoval(name)
    ? await readRow(removal, entity, id, writing)
    : undefined;
  if (!(await removeRow(writing, entity, known, access))) return false;
  writing.changes.push({ entity: name, kind: 'deleted', id, ...(row && { row }) });
  return true;
}

/** Deletes a row because a nested input asks for it. @returns whether it existed */
export const removeNested = (writing: Writing, entity: EntityModel, id: Key): Promise<boolean> =>
  removeAndNote(writing, entity, { id }, writing.rules.entity(entity.entity, 'DELETE'));
