import { parseExact } from '../sql/exact-json.ts';
import { ALL } from '../access/access.ts';
import { decodeRow, type EntityModel } from '../model.ts';
import { ROW_KEY } from '../sql/scope.ts';
import type { Actor } from './write-request.ts';
import type { Writing } from './writer.ts';

/** Reads the row without rules: access is decided for each subscriber. */
export async function readRow(
  { reader }: Pick<Actor, 'reader'>,
  entity: EntityModel,
  id: string,
  writing: Writing,
): Promise<Record<string, unknown> | undefined> {
  const root = {
    kind: 'get' as const,
    entity: entity.entity.name,
    call: 0,
    selection: { entity: entity.entity.name, fields: [], row: true },
    access: ALL,
  };
  const reading = {
    rules: writing.rules,
    tree: false,
    query: writing.query,
  };
  const text = await reader.read(
    root,
    [{ equals: [{ column: 'id', value: id }], order: [] }],
    reading,
  );
  return text === null ? undefined : decodeRow(entity, parseExact(text as string)[ROW_KEY]);
}
