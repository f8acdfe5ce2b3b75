import type { Write, WriteShape } from '@twofold/schema';
import type { AppError } from '../../errors.ts';
import { nestedInputs } from './constraint.ts';
import { toFailure } from './database-failure.ts';
import { listOf } from '../sql/list-of.ts';
import { found, type EntityModel } from '../model.ts';
import { missing } from './belonging.ts';
import { keyOf } from './write-relation.ts';
import { isVisible, type Writing } from './writer.ts';

type Input = Readonly<Record<string, any>>;

/**
 * Whether a foreign key failed because the row that it refers to is missing, and the database named
 * no column.
 */
export function isMissingRelation(error: unknown): boolean {
  const extensions = toFailure(error)?.extensions;
  return extensions?.['reason'] === 'RELATION' && extensions['field'] === undefined;
}

/**
 * The error for the first key of an input whose row does not exist, naming its field. It is looked
 * for only after the database refused the write: checking before each write would cost one more
 * statement.
 */
export async function missingRelation(
  writing: Writing,
  shape: WriteShape,
  input: Input,
): Promise<AppError | undefined> {
  for (const write of shape.writes) {
    const value: unknown = input[write.name];
    if (
      value === undefined ||
      value === null ||
      write.kind === 'column' ||
      write.kind === 'ignored'
    )
      continue;
    const { source } = found(
      writing.model.entity(shape.entity).fields.get(write.field),
      `field ${shape.entity}.${write.field}`,
    );
    if (source.kind !== 'one' && source.kind !== 'many') continue;
    const error =
      (await missingKey(
        writing,
        writing.model.entity(source.entity),
        keysOf(write, value),
        write.name,
      )) ?? (await missingBelow(writing, write, value));
    if (error) return error;
  }
  return undefined;
}

function keysOf(write: Write, value: any): readonly unknown[] {
  if (write.kind !== 'nested') return listOf(value);
  return [write.connectBy ? undefined : write.connect, write.setBy ? undefined : write.set].flatMap(
    (part) => (part === undefined ? [] : listOf(value[part]).map((item) => item?.id ?? item)),
  );
}

async function missingKey(
  writing: Writing,
  other: EntityModel,
  keys: readonly unknown[],
  at: string,
): Promise<AppError | undefined> {
  for (const key of keys)
    if (!(await isVisible(writing, other, keyOf(writing, other, key, at))))
      return missing(other, at);
  return undefined;
}

async function missingBelow(
  writing: Writing,
  write: Write,
  value: any,
): Promise<AppError | undefined> {
  if (write.kind !== 'nested') return undefined;
  for (const { shape: id, input } of nestedInputs(write, value)) {
    const shape = found(writing.model.writes.get(id), `input ${id}`);
    const error = await missingRelation(writing, shape, input);
    if (error) return error;
  }
  return undefined;
}
