import type { Fold, Index } from '../model.ts';
import { indexName } from '../names.ts';
import { userAttributes } from './user.ts';
import type { EntityFact } from './facts.ts';
import type { Shapes } from './shapes.ts';

/** How each identity is compared: the unique index must fold like the sign-in does. */
const FOLDS = { email: 'letters', username: 'letters', phone: 'digits' } as const satisfies Record<
  string,
  Fold
>;

/**
 * Unique indexes that prevent two users with the same address, username or phone number in
 * different spellings.
 */
export function identityIndexes({ columns }: Shapes, user: EntityFact): Index[] {
  const attributes = userAttributes(user);
  return (['email', 'username', 'phone'] as const).flatMap((attribute): Index[] => {
    const name = attributes.get(attribute)?.snakeName;
    const column = columns.get(user.name)?.find((each) => each.name === name);
    if (column?.type !== 'text') return [];
    return [identityIndex(user.table, column.name, FOLDS[attribute])];
  });
}

const identityIndex = (table: string, column: string, fold: Fold): Index => ({
  name: indexName(table, [column, 'identity'], true),
  columns: [column],
  unique: true,
  fold,
});
